"""What small talk is made of, in many languages: nothing but words, for `small_talk`.

Phrases are parted by bars and written as people type them; accents and case make no difference.
Only what asks nothing of the articles belongs here: "help" and "it does not work" do not.
"""

from __future__ import annotations

GREETINGS = """
hi|hii|hey|heya|hello|helo|hallo|hiya|yo|oy|howdy|greetings|welcome|good morning|good afternoon
good evening|good day|morning|afternoon|evening|how are you|how are you doing|how do you do
how is it going|hows it going|how is your day|hows your day|how was your day|how is your day going
hows your day going|whats up|what is up
sup|how have you been|are you there|anybody there|anyone there|is anybody there|is anyone there
is somebody there|nice to meet you|pleased to meet you|long time no see|merry christmas
happy new year|guten morgen|guten tag|guten abend|gute nacht|mahlzeit|hallochen|huhu
gruss gott|gruss dich|gruezi|servus|moin|moin moin|tach|na|wie geht es dir|wie geht es ihnen
wie gehts|wie gehts dir|wie gehts ihnen|wie laufts|jemand da|ist da jemand|ist jemand da
bist du da
frohe weihnachten|bonjour|bonsoir|salut|coucou|allo|rebonjour|ca va|comment ca va
comment allez vous
comment vas tu|tu vas bien|vous allez bien|quoi de neuf|enchante|il y a quelqu un|bonne annee
tu es la|vous etes la|hola|buenos dias|buen dia|buenas tardes|buenas noches|buenas|que tal
como estas|como esta|como esta usted|como andas|como te va|que onda|saludos|mucho gusto
hay alguien|hay alguien ahi|alguien ahi|estas ahi|feliz navidad
ciao|buongiorno|buon giorno|buonasera|buona sera|buon pomeriggio|salve|come stai|come sta|come va
tutto bene|piacere|c e qualcuno|ci sei
ola|oi|alo|bom dia|boa tarde|boa noite|tudo bem|tudo bom|como vai|como voce esta|como esta
como vai voce|e ai|beleza|prazer|tem alguem ai|alguem ai
hoi|hai|goedemorgen|goeiemorgen|goedemiddag|goedenavond|goedendag|goeiedag|hoe gaat het
hoe gaat het met je|hoe is het|alles goed|is daar iemand
hej|hejsan|hejhej|tjena|tja|hallå|god morgon|god morgen|god dag|god kvall|god kveld|god aften
godmorgen
godaften|hur mar du|hur ar laget|hvordan gar det|hvordan har du det|laget|hei|heisann|halla|terve
moi
moikka|hyvaa huomenta|hyvaa paivaa|mita kuuluu
czesc|siema|hejka|witam|witaj|witajcie|dzien dobry|dobry wieczor|dobranoc|jak sie masz|co slychac
ahoj|dobry den|dobre rano|dobry vecer|cau|nazdar|jak se mas|zdravo|dobar dan|dobro jutro
dobro vece
kako si|buna|buna ziua|buna dimineata|salutare|ce mai faci|szia|sziasztok|jo napot|jo reggelt|udv
merhaba|merhabalar|selam|selamlar|gunaydin|iyi gunler|iyi aksamlar|tunaydin|nasilsin|nasilsiniz
naber|ne haber|hayirli gunler|kolay gelsin
привет|приветик|приветствую|здравствуйте|здравствуй|здрасте|доброе утро|добрый день|добрый вечер
доброго времени суток|доброго дня|доброго вечера|доброго утра|доброй ночи|хай|салют|как дела
как ты|как вы|как жизнь|как поживаете|как поживаешь|рад знакомству|есть кто|есть кто нибудь
кто нибудь есть|вы тут|вы здесь|ты тут
привіт|вітаю|добрий день|добрий вечір|доброго ранку|добрий ранок|доброго дня|доброго вечора
здрастуйте|як справи|як ти
здравей|здравейте|добро утро|добър ден|добър вечер
γεια|γεια σου|γεια σας|καλημερα|καλησπερα|χαιρετε|τι κανεις|τι κανετε
שלום|היי|הי|אהלן|הלו|בוקר טוב|צהריים טובים|ערב טוב|לילה טוב|מה שלומך|מה שלומכם|מה נשמע|מה קורה
מה המצב
مرحبا|مرحبتين|أهلا|أهلا وسهلا|اهلا|اهلين|هلا|هاي|ألو|السلام عليكم|وعليكم السلام|سلام
السلام عليكم ورحمة الله
السلام عليكم ورحمة الله وبركاته|صباح الخير|صباح النور|مساء الخير|مساء النور|كيف حالك|كيف حالكم
كيف الحال
كيفك|شلونك|ازيك|تحياتي|هل من أحد هنا|درود|صبح بخیر|حال شما چطور است|خوبی
नमस्ते|नमस्कार|प्रणाम|राम राम|हैलो|हेलो|हाय|सुप्रभात|शुभ प्रभात|शुभ संध्या|शुभ रात्रि|आप कैसे हैं|कैसे हैं आप
कैसे हैं|कैसे हो|तुम कैसे हो|क्या हाल है|क्या हाल चाल|namaste|namaskar|kaise ho|aap kaise hain
নমস্কার|হ্যালো|কেমন আছেন|আসসালামু আলাইকুম|வணக்கம்|నమస్కారం|ನಮಸ್ಕಾರ
สวัสดี|หวัดดี|ดีจ้า|ดีค่ะ|ดีครับ|สบายดีไหม|สบายดีมั้ย|เป็นอย่างไรบ้าง|เป็นไงบ้าง|อรุณสวัสดิ์|ราตรีสวัสดิ์|ฮัลโหล
สวัสดีตอนเช้า|สวัสดีตอนเย็น|ยินดีที่ได้รู้จัก|มีใครอยู่ไหม
xin chao|chao|chao ban|chao anh|chao chi|chao em|chao buoi sang|chao buoi toi|ban khoe khong|alo
halo|hai|selamat pagi|selamat siang|selamat sore|selamat malam|selamat datang|apa kabar
assalamualaikum
selamat petang|apa khabar|kumusta|kamusta|magandang umaga|magandang gabi|habari|jambo|mambo
你好|您好|你们好|大家好|早上好|早安|早|上午好|中午好|下午好|晚上好|晚安|嗨|嘿|哈喽|哈啰|哈罗|在吗
在不在|在么|有人吗
有人在吗|你好吗|您好吗|你怎么样|最近好吗|最近怎么样|吃了吗|很高兴认识你|幸会|你好嗎|早晨|有人嗎
在嗎|新年快乐
こんにちは|こんにちわ|こんばんは|こんばんわ|おはよう|おはようございます|おやすみ|おやすみなさい
はじめまして|初めまして
よろしくお願いします|よろしくお願いいたします|よろしく|やあ|やっほー|どうも|もしもし|ハロー
お元気ですか|元気ですか|元気
調子はどうですか|調子はどう|お世話になっております|お世話になります|お疲れ様です|誰かいますか
いらっしゃいますか
안녕|안녕하세요|안녕하십니까|좋은 아침|좋은 아침이에요|좋은 아침입니다|좋은 하루|좋은 저녁이에요
반가워|반가워요|반갑습니다
여보세요|하이|헬로|처음 뵙겠습니다|잘 지내|잘 지내요|잘 지내세요|어떻게 지내세요|잘 부탁드립니다
거기 누구 있어요|계세요
"""

THANKS = """
thanks|thank you|thankyou|thank u|thx|thnx|tnx|ty|tysm|tyvm|cheers|ta|much appreciated|appreciated
i appreciate it|i appreciate that|i really appreciate it|appreciate it|many thanks|thanks a lot
thanks a million|thanks a bunch|thank you very much|thank you so much|youre welcome
you are welcome
no problem|you helped me|you helped|you have been helpful|youve been helpful
that helped|that helps|that was helpful|this helped|this helps|this was helpful|very helpful
so helpful
helpful|that worked|it worked|this worked|it works now|now it works|it works|works now|works fine
works perfectly|that works|this works|that fixed it|that did it|that solved it|this fixed it
fixed it
fixed|it is fixed|problem solved|solved|thats what i needed|thats exactly what i needed
that is what i needed|that is exactly what i needed|exactly what i needed|just what i needed
thats what i was looking for|exactly what i was looking for
danke|danke schon|danke dir|danke sehr|vielen dank|besten dank|herzlichen dank|tausend dank
lieben dank|dankeschon|dankesehr|vielen lieben dank|hat geklappt|hat funktioniert|jetzt geht es
jetzt gehts|es geht jetzt|es funktioniert jetzt|das hat geholfen|hat geholfen|das hilft
gern geschehen
merci|merci beaucoup|merci bien|merci infiniment|mille mercis|un grand merci|grand merci
je vous remercie|je te remercie|ca marche maintenant|ca fonctionne|ca a marche|c'est bon|de rien
gracias|muchas gracias|mil gracias|muchisimas gracias|se lo agradezco|te lo agradezco|agradecido
ya funciona|funciono|ahora funciona|me sirvio|de nada|grazie|grazie mille|molte grazie
tante grazie
ti ringrazio|la ringrazio|vi ringrazio|ha funzionato|ora funziona|risolto|prego|di niente
obrigado|obrigada|muito obrigado|muito obrigada|obrigadao|brigado|brigada|valeu|agradeco
agradecida
funcionou|agora funciona|deu certo|por nada
dank je|dank je wel|dankjewel|dank u|dank u wel|dankuwel|bedankt|hartelijk dank|heel erg bedankt
het werkt nu|het werkt|gelukt|opgelost|graag gedaan
tack|tack sa mycket|tack sa jattemycket|stort tack|tusen tack|tackar|det funkar nu|takk|tusen takk
mange takk|tak|mange tak|tusind tak|kiitos|kiitoksia|paljon kiitoksia
dzieki|dziekuje|dziekuje bardzo|bardzo dziekuje|wielkie dzieki|dziekuje za pomoc|dzieki wielkie
dziala
dekuji|dekuju|diky|hvala|hvala lepa|multumesc|mersi|koszonom|kosz
tesekkurler|tesekkur ederim|tesekkur ederiz|cok tesekkurler|cok tesekkur ederim|sagol|sag ol
sagolun
eyvallah|rica ederim
спасибо|спс|большое спасибо|огромное спасибо|спасибо большое|спасибо огромное|спасибочки|благодарю
благодарю вас|всё работает|все работает|теперь работает|всё заработало|заработало|получилось
помогло
пожалуйста не за что|дякую|щиро дякую|велике спасибі|спасибі|благодаря|хвала
ευχαριστω|ευχαριστω πολυ|תודה|תודה רבה|המון תודה|תודה לך
شكرا|شكرا لك|شكرا لكم|شكرا جزيلا|شكرا كثيرا|ألف شكر|أشكرك|اشكرك|مشكور|متشكر|جزاك الله خيرا|ممنون
عفوا|متشکرم|مرسی
धन्यवाद|शुक्रिया|आभार|आपका धन्यवाद|dhanyavad|shukriya|ধন্যবাদ|நன்றி|ధన్యవాదాలు
ขอบคุณ|ขอบใจ|ขอบพระคุณ|ขอบคุณมาก|ได้แล้ว
cam on|cam on ban|xin cam on|cam on nhieu|terima kasih|terima kasih banyak|makasih|trims|salamat
asante
谢谢|多谢|感谢|谢啦|谢了|谢谢你|谢谢您|谢谢你们|非常感谢|十分感谢|太感谢|感激不尽|不客气|辛苦了
谢谢大家|搞定了|解决了|谢
謝謝|多謝|感謝|唔該|解決了|可以了|好用
ありがとう|ありがとうございます|ありがとうございました|有難うございます|有難う|どうもありがとう
サンキュー|感謝します
感謝いたします|助かりました|助かります|助かった|解決しました|できました|お世話になりました
どういたしまして
감사합니다|감사해요|감사드립니다|감사|고마워|고마워요|고맙습니다|땡큐|도움이 됐어요
도움이 되었습니다|해결됐어요|해결했습니다
잘 됩니다|수고하세요|수고하셨습니다
"""

CLOSINGS = """
bye|bye bye|byebye|goodbye|good bye|cya|see you|see ya|see you later|see you soon|see you tomorrow
see you around|later|laters|take care|farewell|good night|goodnight|have a nice day
have a good day
have a great day|have a good one|have a nice weekend|have a good weekend|have a great weekend
have a lovely day|have a nice evening|enjoy your day|thats all|that is all|thatll be all
that will be all|thats it|that was all|nothing else|nothing more|no more questions
i have to go|gotta go|i am done|im done
tschuss|tschau|ciao ciao|auf wiedersehen|wiedersehen|auf wiederschauen|bis bald|bis dann
bis spater
bis morgen|schonen tag|schonen tag noch|einen schonen tag|einen schonen tag noch|schonen abend
schonen abend noch|schones wochenende|schonen feierabend|machs gut|das war alles|das wars
das ist alles
au revoir|a bientot|a demain|a plus|a plus tard|bonne journee|bonne soiree|bonne nuit|bon week end
bonne fin de journee|adieu|c'est tout|ce sera tout
adios|hasta luego|hasta pronto|hasta manana|hasta la vista|nos vemos|chao|chau
que tengas un buen dia
que tenga un buen dia|buen fin de semana|cuidate|eso es todo|es todo|nada mas
arrivederci|arrivederla|a presto|a domani|a dopo|buona giornata|buona serata|buonanotte
buona notte
buon weekend|e tutto|questo e tutto|tchau|ate logo|ate mais|ate amanha|ate breve|adeus
tenha um bom dia|bom fim de semana|e so isso|so isso|e tudo
tot ziens|tot later|tot morgen|doei|dag|fijne dag|fijne avond|fijn weekend|dat was alles
dat is alles
hej da|vi ses|ha det|ha det bra|hejda|farvel|god natt|godnat|trevlig kvall|ha en bra dag|nakemiin
do widzenia|do zobaczenia|na razie|papa|milego dnia|to wszystko|na shledanou|nashledanou
la revedere|viszlat|hoscakal|hoscakalin|gorusuruz|gorusmek uzere|iyi geceler|bay bay|hosca kal
на свидание|до свидания|досвидания|до встречи|до завтра|до скорого|до связи|всего доброго
всего хорошего|всех благ|хорошего дня|хорошего вечера|спокойной ночи|прощай|прощайте|пока
пока пока
это всё|это все|бувай|до побачення|на все добре|гарного дня|бывай|довиждане|чао
αντιο|καληνυχτα|τα λεμε|להתראות|ביי|יום טוב|זה הכל
مع السلامة|مع السلامه|وداعا|إلى اللقاء|الى اللقاء|باي|تصبح على خير|في أمان الله|يوم سعيد
نهارك سعيد|هذا كل شيء|خداحافظ
अलविदा|फिर मिलेंगे|फिर मिलते हैं|टाटा|बाय|शुभ दिन|बस इतना ही|alvida|phir milenge|বিদায়
ลาก่อน|บาย|บ๊ายบาย|แล้วเจอกัน|เจอกันใหม่|โชคดี|ไปแล้ว|ฝันดี
tam biet|hen gap lai|chuc ngu ngon|sampai jumpa|dadah|selamat tinggal|paalam|kwaheri
再见|拜拜|再会|回头见|明天见|下次见|回见|886|慢走|保重|就这样|没有了|没别的了|没事了|再見|掰掰|拜
さようなら|さよなら|またね|またな|じゃあね|じゃあまた|では|それでは|それではまた|ではまた
またあとで|また明日|失礼します
失礼いたします|バイバイ|お先に失礼します|以上です
안녕히 계세요|안녕히 가세요|잘 가|잘 있어|잘 가요|다음에 봐요|다음에 또 봐요|나중에 봐|또 봐요
바이|바이바이|잘 자
좋은 하루 보내세요|들어가세요|이상입니다
"""

NODS = """
ok|okay|okey|okie|oki|k|kk|alright|all right|all good|sure|fine|great|perfect|cool|nice|awesome
excellent|super|good|very good|amazing|wonderful|fantastic|brilliant|lovely|well done|good job
great job|good bot|nice bot|love it|love you|i love you|i like it|got it|i got it|i see
i understand
understood|makes sense|that makes sense|fair enough|noted|roger|yes|yep|yeah|yea|yup|ya|aye|right
exactly|correct|indeed|true|no|nope|nah|no thanks|no thank you|not now|never mind|nevermind|nvm
forget it|dont worry|no worries|it is ok|its ok|its fine|thats ok|thats fine|whatever|lol|lmao
rofl
xd|wow|omg|hm|hmm|um|uh|aha|ah|oh|funny|you are funny|youre funny|youre great|you are great
youre the best|you are the best|youre awesome|you are awesome|im good|i am good|im fine|i am fine
sorry|my bad|test|testing|just testing|this is a test|just looking|just browsing|im just looking
gut|alles klar|alles gut|prima|toll|klasse|genial|verstanden|verstehe|ich verstehe|ja|jo|jep|nein
ne
no danke|nein danke|genau|stimmt|richtig|klar|na klar|in ordnung|passt|okidoki|egal|schon gut
nicht so wichtig|vergiss es|mir egal|macht nichts|sehr gut|nur ein test|ich teste nur|weiss nicht
d'accord|daccord|dac|parfait|genial|oui|ouais|non|non merci|bien|tres bien|bien sur|entendu
compris
je comprends|exact|exactement|pas de souci|pas grave|peu importe|laisse tomber|tant pis|top
cool merci
mdr|je teste|c'est bien
vale|claro|perfecto|si|entendido|entiendo|ya veo|de acuerdo|muy bien|bueno|buenisimo|listo
estupendo
guay|da igual|no importa|olvidalo|no gracias|exacto|correcto|es una prueba|prueba
va bene|perfetto|certo|capito|ho capito|d'accordo|daccordo|bene|molto bene|ottimo|bravo|esatto
si grazie
no grazie|non importa|lascia perdere|fa niente|prova
ta bom|certo|sim|nao|perfeito|entendi|otimo|legal|claro|combinado|tudo certo|blz|deixa pra la
esquece
nao obrigado|nao obrigada|teste|muito bom|bacana
prima|goed|nee|ja hoor|oke|okee|begrepen|snap ik|ik snap het|duidelijk|top|mooi|laat maar
maakt niet uit
nee bedankt|bra|jattebra|nej|nej tack|ja tack|okej|jag forstar|forstar|forstatt|det ar bra
strunt samma
skit samma|ikke|nei|greit|fint|forstatt|godt|selvfolgelig|selvklart|ok da|joo|kylla|ei|selva|hyva
dobrze|tak|nie|okej|jasne|rozumiem|swietnie|super|niewazne|spoko|nie dziekuje|test|zgoda|dobra|ano
dobre|rozumim|tamam|evet|hayir|anladim|peki|guzel|harika|super|bosver|onemli degil|olur|aynen
хорошо|понятно|понял|поняла|поняли|да|нет|ясно|ладно|окей|ок|ага|угу|отлично|супер|класс|круто
здорово|прекрасно|молодец|неважно|не важно|забудь|забей|ничего|конечно|точно|верно|всё понятно
все понятно|всё ясно|принято|нет спасибо|тест|проверка|ничего страшного|добре|зрозуміло|так|ні
гаразд
чудово|дякую ні|добре дякую|ναι|οχι|ενταξει|καταλαβα|τελεια|כן|לא|בסדר|אוקיי|אוקי|הבנתי|מעולה|סבבה
יופי|לא משנה
حسنا|حسنًا|تمام|نعم|لا|أجل|ايوه|طيب|أوكي|اوكي|ماشي|فهمت|مفهوم|واضح|ممتاز|رائع|جميل|جيد|جيد جدا
لا شكرا|لا يهم|لا بأس|أكيد
طبعا|صحيح|بله|باشه|خوب|عالی
ठीक|ठीक है|ठीक हूँ|अच्छा|बहुत अच्छा|बहुत बढ़िया|बढ़िया|हाँ|हां|जी हाँ|जी|नहीं|नहीं धन्यवाद|समझ गया|समझ गई
मैं समझ गया|सही|सही है|ओके
कोई बात नहीं|बिल्कुल|शाबाश|theek hai|thik hai|accha|haan|nahi
โอเค|โอเคเลย|ตกลง|ได้|ได้เลย|ใช่|ไม่ใช่|ไม่|เข้าใจแล้ว|เข้าใจ|ดี|ดีมาก|เยี่ยม|เยี่ยมมาก|สุดยอด|รับทราบ|ไม่เป็นไร
ทดสอบ|อ๋อ|อืม|ไม่เป็นไรครับ
vang|da|duoc|duoc roi|toi hieu roi|hieu roi|tot|tuyet voi|khong|khong sao|dung|dung roi|baik|oke
iya|ya|tidak|mengerti|saya mengerti
sip|siap|bagus|mantap|tidak apa apa|sige|hindi|oo|sawa|ndiyo|hapana
好|好的|好吧|好呀|好滴|行|行吧|可以|没问题|明白|明白了|知道|知道了|了解|了解了|懂了|收到|是|是的
对|对的|对啊|嗯|嗯嗯|哦|噢|喔|不|不是|不用|不用了
不要|没有|没事|没关系|算了|不错|很好|太好了|真棒|厉害|牛|赞|完美|当然|测试|测试一下|原来如此|随便
无所谓|真的吗|好嘅|係|冇問題|沒事|沒關係|測試
はい|うん|ええ|いいえ|いや|わかりました|分かりました|わかった|分かった|了解|了解です|了解しました
承知しました|承知いたしました|かしこまりました
なるほど|そうですか|そうですね|そっか|オッケー|オーケー|おけ|大丈夫|大丈夫です|結構です|いいね
いいです|いいですね|すごい|素晴らしい|最高|完璧
もういいです|気にしないで|テスト|テストです|面白い|ふーん|へえ|へー
네|넵|넹|예|응|어|그래|그래요|아니|아니요|아니오|아뇨|알겠습니다|알겠어요|알았어|알았어요
이해했습니다|이해했어요|좋아|좋아요|좋습니다|괜찮아|괜찮아요
괜찮습니다|됐어요|됐습니다|그렇군요|그렇구나|아하|오케이|오키|확인했습니다|확인|완벽해요|최고|대박
테스트|테스트입니다|맞아요|물론이죠|상관없어요|신경 쓰지 마세요
"""

COMPLAINTS = """
useless|you are useless|youre useless|this is useless|completely useless|totally useless|stupid
this is stupid|dumb|this is dumb|idiot|idiots|moron|fool|rubbish|this is rubbish|garbage|trash
crap
bullshit|shit|this is shit|terrible|this is terrible|horrible|awful|this is awful|pathetic
worthless
ridiculous|this is ridiculous|bad bot|stupid bot|dumb bot|useless bot|worst bot|worst bot ever
worst service ever|the worst|worst ever|you are the worst|youre the worst|you suck|this sucks
that sucks
it sucks|sucks|i hate|hate|i hate you|i hate it|hate you|hate it|fuck|fuck you|fuck off
fuck this|fck|ffs|wtf|what the fuck|what the hell|go to hell|damn|damn it|shut up|screw you
bastard
what a joke|what a waste|waste of time|what a waste of time|this is a waste of time|this is a joke
not helpful|not very helpful|not useful|unhelpful|thats not helpful|that is not helpful
this is not helpful|that was not helpful|you are not helpful|youre not helpful|no help
you are no help|youre no help|that doesnt help|that does not help|this doesnt help
that didnt help|that did not help|this didnt help|didnt help|doesnt help|you didnt help
you dont help|you cant help|you are not helping|youre not helping|i am annoyed|im annoyed
so annoying|this is annoying|annoying|so frustrating|this is frustrating|disappointing
unacceptable
nutzlos|das ist nutzlos|unbrauchbar|dumm|blod|doof|dummer bot|du bist dumm|du bist blod
du bist nutzlos
bist du dumm|sie sind nutzlos|scheisse|so ein scheiss|so ein mist|mist|schwachsinn|blodsinn|idiot
verpiss dich|leck mich|halt die klappe|das hilft nicht|das hilft mir nicht|das hat nicht geholfen
hilft nicht|nicht hilfreich|das war nicht hilfreich|schlecht|sehr schlecht|furchtbar|schrecklich
nul|c'est nul|tu es nul|t'es nul|vous etes nuls|trop nul|inutile|c'est inutile|tu es inutile
ca ne m'aide pas
ca n aide pas|tu ne m aides pas|idiot|imbecile|stupide|tu es stupide|tu es bete|merde|putain
ta gueule
connard|va te faire foutre|n'importe quoi|horrible|quelle perte de temps
inutil|eres inutil|es inutil|esto es inutil|no sirve|no sirves|no sirve de nada|no sirve para nada
esto no sirve|esto no ayuda|no ayuda|no me ayuda|no me ayudas|no me ayudo|estupido|eres estupido
tonto
eres tonto|idiota|eres un idiota|mierda|que mierda|que asco|vete a la mierda|callate|malisimo
perdida de tiempo|non serve|non serve a niente|non servi a niente|non mi aiuta|non aiuta
non mi aiuti
inutile|sei inutile|stupido|sei stupido|scemo|idiota|merda|che schifo|fa schifo|vaffanculo
nao ajuda|nao ajudou|isso nao ajuda|nao me ajuda|nao serve|nao serve para nada|voce e inutil
burro|voce e burro|idiota|que lixo|lixo|que porcaria|pessimo|merda|vai se foder
nutteloos|waardeloos|dit is waardeloos|stom|dom|je bent dom|idioot|dit helpt niet|dat helpt niet
rot op|klote
vardelos|vardelost|dalig|du ar dum|dum|hjalper inte|det hjalpte inte|ubrukelig|skit
bezuzyteczny|do niczego|to nie pomaga|nie pomaga|glupi|jestes glupi|idiota|kurwa|do dupy
beznadzieja
ise yaramaz|hicbir ise yaramiyor|aptal|aptalsin|salak|berbat|rezalet|siktir
бесполезно|это бесполезно|бесполезный|ты бесполезен|вы бесполезны|тупой|ты тупой|тупая|тупой бот
глупый
ты глупый|дурак|ты дурак|идиот|дебил|отстой|полный отстой|ужас|ужасно|кошмар|бред|чушь|фигня|хрень
дерьмо
блин|блять|сука|пошел ты|пошёл ты|отвали|заткнись|не помогло|это не помогло|мне не помогло
не помогает
это не помогает|ты не помогаешь|толку нет|никакого толку|ненавижу|марно|не допомогло|дурень|жах
חסר תועלת|טיפש|אתה טיפש|גרוע|לא עזר|זה לא עוזר|לא עוזר
عديم الفائدة|غبي|أنت غبي|انت غبي|لا فائدة|بلا فائدة|سيء|سيئ جدا|لم يساعد|هذا لا يساعد|لا يفيد|تبا
बेकार|बेकार है|यह बेकार है|तुम बेकार हो|बकवास|मूर्ख|बेवकूफ|गधा|मदद नहीं मिली|कोई फायदा नहीं|घटिया
ไร้ประโยชน์|ไม่มีประโยชน์|ไม่ช่วยเลย|ไม่ได้ช่วยอะไรเลย|โง่|งี่เง่า|แย่|แย่มาก|ห่วย|ห่วยแตก|กาก
vo dung|ngu|te|te qua|bodoh|tidak berguna|tidak membantu|payah|sampah
没用|没有用|没什么用|一点用都没有|没帮助|没有帮助|垃圾|废物|笨|笨蛋|蠢|傻|傻逼|白痴|弱智|滚|闭嘴
差劲|太差了|烂|太烂了|智障|什么玩意|什么破玩意
無用|沒用|廢物|役に立たない|役に立ちません|役立たず|使えない|使えないな|バカ|馬鹿|ばか|アホ|くそ
クソ|最悪|最低|ひどい|黙れ|うざい|意味ない
쓸모없어|쓸모없네|쓸모 없어|쓸모없다|도움이 안 돼|도움이 안 돼요|도움이 안돼|도움 안 됨|바보
멍청이|멍청해|멍청하다|최악|쓰레기|짜증나|시발|씨발|꺼져|닥쳐|별로야|별로예요
"""

FILLERS = """
there|all|everyone|everybody|folks|team|guys|friend|friends|my friend|mate|buddy|dude|man|bro|bot
chatbot
assistant|support|sir|madam|maam|dear|love|so much|very much|a lot|a bunch|again|now|then|too|you
to you
today|tonight|this morning|this evening|tomorrow|for today|for now|at all|ever|so|such|really
actually
honestly|seriously|you guys|youre|you are|for your help|for the help|for helping|for helping me
for that|for this
for the info|for the information|for your time|for your support|for the answer
for the quick answer
for the quick reply|for the quick help|for everything|for nothing|your help|and|oh|ah|um|well|just
very
pretty|in advance|it is|with this|with that|this|this bot|this thing|this chatbot|this app|this is
that is
noch|sehr|so|dir|ihnen|euch|und|zusammen|alle|an alle|leute|heute|nochmal|nochmals|auch|jetzt|dann
mal|mir
super|wirklich|echt|total|fur alles|fur die hilfe|fur ihre hilfe|fur deine hilfe
fur die schnelle hilfe
fur die antwort|fur die schnelle antwort|fur die info|fur nichts|liebes team|im voraus|bot|der bot
das ist|das war|es war
a tous|a toutes|tout le monde|a vous|a toi|et|pour ton aide|pour votre aide|pour tout|pour l'aide
pour la reponse|pour votre reponse|pour l'info|d'avance|bien|tres|encore|aujourd hui|monsieur
madame|equipe|c'est|c'etait
a todos|a todas|y|muy|por la ayuda|por tu ayuda|por su ayuda|por todo|por la respuesta|por la info
otra vez
de nuevo|amigo|amigos|equipo|hoy|senor|senora|de antemano|esto es|eso es
a tutti|e|molto|per l'aiuto|per la risposta|per tutto|dell'aiuto|ragazzi|ancora|in anticipo|a te
questo e
pela ajuda|pela resposta|por tudo|pessoal|gente|galera|a todos|muito|mesmo|desde ja|amigo
allemaal|allen|en|voor je hulp|voor uw hulp|voor de hulp|voor alles|alvast|heel erg|hoor|jullie|je
dat is|dit is|het is
och|alla|for hjalpen|for din hjalp|sa mycket|igen|for alt|for hjelpen|for hjaelpen|alle sammen|du
i|wszystkim|za pomoc|za wszystko|bardzo|panstwu|wam|za odpowiedz|ci|a|vam|za pomoc
yardiminiz icin|yardimin icin|her sey icin|herkese|cok|size|bana|arkadaslar
и|а|ну|всем|вам|тебе|вас|большое|очень|за помощь|за ответ|за всё|за все|за быстрый ответ
за информацию|за совет
ещё раз|еще раз|друзья|коллеги|бот|это|я|і|за допомогу|за відповідь|усім|дуже
πολυ|σας|σε ολους|לכולם|לכם|לך|על העזרה|מאוד|על הכל
على المساعدة|على مساعدتك|على الرد|على كل شيء|لك|لكم|بك|بكم|يا|جميعا|للجميع|جدا|كثيرا|جزيلا|و|والله
जी|आपका|आपको|आपकी मदद के लिए|मदद के लिए|बहुत|बहुत बहुत|भाई|दोस्त|सर|मैडम|सबको|और|है|हूँ
ครับ|ค่ะ|คะ|คับ|จ้า|จ้ะ|จ๊ะ|นะ|นะคะ|นะครับ|นะค่ะ|มาก|มากๆ|มากเลย|เลย|แล้ว|ทุกคน|ที่ช่วย|ที่ช่วยเหลือ
สำหรับความช่วยเหลือ|แอดมิน|ผม|คุณ
ban|anh|chi|em|nhieu|rat|moi nguoi|a|nhe|nha|da|vi da giup|banyak|semua|semuanya|atas bantuannya
ya|kak|min|pak|bu|sekali
了|啊|呀|哦|吧|啦|哈|呢|嘛|哟|喔|的|你|您|你们|大家|亲|朋友|朋友们|客服|太|真|真的|很|非常|十分
你的帮助|您的帮助|你的|您的|帮助|回复|的帮助|一下|先|就|那|那就
ね|よ|な|わ|です|でした|ます|ました|ございます|ございました|とても|本当に|ほんとうに|どうも|皆さん
みなさん|皆様|みんな|さん|お|も|また|早速|丁寧に|教えてくれて|教えていただき
ご回答|ご対応|いただき|くれて|笑|〜|ー
요|정말|진짜|너무|매우|대단히|모두|여러분|도와주셔서|도와줘서|답변|빠른 답변|친절한 답변|네|아|님
그럼|그러면|이제|다시|입니다|이에요|예요
"""

OBJECTIONS = """
no entiendo|no funciono|no me funciono|no me sirvio|nao entendi|nao funcionou|nao deu certo
non ho capito|non capito
non risolto|non ha funzionato|ne comprends pas|nie rozumiem|nie dziala|nerozumim|anladim mi
не понял|не поняла|не получилось
不行|不明白|不了解|不知道|没有搞定|没有解决了|ไม่ได้|ไม่ได้แล้ว|ไม่เข้าใจ|わかりません|分かりません
"""
"""Made of the same words, and yet somebody is not done: these are never small talk."""

_BEING = (
    r"(?:an? )?(?:real |actual |live |human |ai |chat )*(?:human|humans|human being|person|people"
    r"|man|woman|robot|bot|chatbot|machine|computer|program|ai|artificial intelligence|real|alive"
    r"|chat ?gpt|gpt|llm|language model|claude|gemini|siri|alexa)"
)
_BEING_ELSEWHERE = (
    r"(?:ein |eine |un |une |una |um |uma |en |een )?(?:echter? |vraie? |veritable |verdadeira? )?"
    r"(?:mensch|person|roboter|robot|bot|chatbot|maschine|computer|ki|humain|humaine|personne"
    r"|machine|ordinateur|ia|persona|humano|humana|maquina|robo|pessoa|umano|essere umano|macchina"
    r"|persoon|mens|manniska|menneske|czlowiekiem|robotem|botem)(?: real| reelle?| vera| vero)?"
)

ABOUT_ASSISTANT = rf"""
(?:are|r) (?:you|u) (?:just |really |only )?{_BEING}(?: or (?:just )?{_BEING})?
(?:is this|is it|am i (?:talking|speaking|chatting) (?:to|with)) {_BEING}(?: or {_BEING})?
(?:who|what) (?:exactly )?(?:are|r) (?:you|u)(?: exactly)?
who (?:am i|are we) (?:talking|speaking|chatting) (?:to|with)
(?:what is|whats) your name
do you have a name
what should i call you
who (?:made|built|created|trained|programmed|developed) you
how old are you
tell me about yourself
introduce yourself
do you (?:have feelings|sleep|dream|love me|like me|like your job)
wer (?:bist du|sind sie)(?: eigentlich| denn)?
(?:bist du|sind sie) {_BEING_ELSEWHERE}
wie heisst du
wie heissen sie
wie ist (?:dein|ihr) name
wer hat dich (?:gemacht|gebaut)
tu es qui
qui (?:es tu|etes vous|est tu)
(?:es tu|tu es|etes vous|vous etes) {_BEING_ELSEWHERE}
comment t'appelles tu
comment vous appelez vous
quel est (?:ton|votre) nom
qui t'a cree
quien (?:eres|es usted)(?: tu)?
(?:eres|es usted) {_BEING_ELSEWHERE}
como te llamas
cual es tu nombre
quien te (?:creo|hizo)
chi (?:sei|e lei)
(?:sei|lei e) {_BEING_ELSEWHERE}
come ti chiami
qual e il tuo nome
chi ti ha creato
quem (?:e voce|es tu|e vc)
voce e {_BEING_ELSEWHERE}
qual (?:e )?o? ?(?:seu|teu) nome
como voce se chama
quem te criou
wie (?:ben jij|ben je|bent u)
(?:ben je|ben jij|bent u) {_BEING_ELSEWHERE}
hoe heet je
wat is je naam
vem ar du
hvem er du
(?:ar|er) du {_BEING_ELSEWHERE}
vad heter du
hva heter du
hvad hedder du
kim jestes
(?:czy )?(?:jestes|ty jestes) {_BEING_ELSEWHERE}
jak masz na imie
kdo jsi
jak se jmenujes
sen kimsin
kimsin(?: sen)?
siz kimsiniz
kimsiniz
adin ne
(?:sen )?(?:insan|robot|bot|yapay zeka) misin
(?:а )?(?:ты кто|кто ты|вы кто|кто вы)(?: такой| такая| такие)?
(?:ты|вы) (?:робот|бот|человек|живой человек|машина|ии)(?: или (?:робот|бот|человек))?
как тебя зовут
как вас зовут
кто тебя создал
(?:ти хто|хто ти|хто ви)
(?:ти|ви) (?:робот|бот|людина)
як тебе звати
(?:من|مين) (?:أنت|انت|أنتم|حضرتك)
ما (?:هو )?(?:اسمك|أسمك)
(?:هل )?(?:أنت|انت) (?:روبوت|إنسان|انسان|بشر|بوت)
انت مين
מי (?:אתה|את|אתם)
מה השם שלך
איך קוראים לך
(?:אתה|את) (?:רובוט|בוט|בן אדם|אדם)
(?:आप|तुम|तू) कौन (?:हैं|हो|है)
(?:आपका|तुम्हारा) नाम क्या है
क्या (?:आप|तुम) (?:एक )?(?:रोबोट|इंसान|बॉट|मशीन) (?:हैं|हो)
ban la ai
ban ten la gi
ban la (?:robot|nguoi)(?: that)?(?: phai khong)?
(?:siapa kamu|kamu siapa|siapa anda|anda siapa|siapa namamu)
(?:apakah )?(?:kamu|anda) (?:robot|manusia|bot)
(?:당신은|너는|넌|너)? ?(?:누구세요|누구야|누구니|누구입니까|누구신가요)
이름이 (?:뭐야|뭐예요|뭐니|무엇인가요)
(?:당신은|너는|너|넌)? ?(?:로봇|봇|사람|인간|ai|챗봇)(?:이야|이에요|인가요|입니까|이세요|이니)
"""
"""Who or what one talks to: a regular expression on each line."""

ABOUT_ASSISTANT_UNSPACED = r"""
(?:你|您)(?:到底)?是(?:谁|誰|什么|什麼|哪位|机器人|機器人|真人|人工智能|人类|人吗|ai|人)(?:吗|嗎|么)?
(?:你|您)(?:叫什么|叫什麼)(?:名字)?
谁(?:创造|开发|做)了?你(?:的)?
(?:あなた|君|きみ|お前|おまえ)(?:は|って)?(?:誰|だれ|どなた|何者|なに|何|人間|ロボット|ボット|ai)(?:です|なの|なん)?(?:か|ですか)?
(?:あなたの|お)?名前は(?:何|なん)?(?:ですか|です)?
(?:どなた|誰|だれ)ですか
(?:คุณ|เธอ|แก|นาย)(?:เป็น|คือ)(?:ใคร|อะไร|หุ่นยนต์|คน|คนจริง|บอท|มนุษย์|ai)(?:ๆ)?(?:หรือเปล่า|รึเปล่า|ไหม|มั้ย|เหรอ|หรือ)?
(?:คุณ)?ชื่ออะไร
"""
"""The same in scripts without spaces, found anywhere in a message."""
