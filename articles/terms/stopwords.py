"""Words that carry no topic, by language: grammar, and how people phrase a question.

Neither passages nor queries keep them. Only words that never name what an article is
about belong here: "help", "new" and "time" do not. A language without a list keeps
all its words, and their frequency alone makes them light.
"""

from __future__ import annotations

_LISTS = {
    "en": """
        a able about after again all almost already also although always am an and any anyone
        anything are arent as at be became because been before being below between both but by
        can cant cannot could couldnt currently did didnt do does doesnt doing don dont done
        down during each either else even ever every for from further get gets getting give go
        goes going gonna got had hadnt has hasnt have havent having he hello her here hers hey
        hi him his how however i id if ill im in into is isnt it its itself ive just know let
        lets like ll looking make makes making may maybe me mean might more most much must my
        myself need needed needs neither no nor not now of off ok on once only onto or other
        others ought our ours out over own please possible possibly quite rather re really same
        say says seem seems shall she should shouldnt since so some somehow someone something
        still such take tell than thank thanks that thats the their theirs them themselves then
        there theres therefore these they theyre thing things this those though through thus to
        too tried tries try trying under until up upon us use used uses using ve very via want
        wanted wants was wasnt way ways we well were werent weve what whatever whats when where
        whereas wheres whether which while who whom whose why will with within without wondering
        wont would wouldnt yes yet you youd youll your youre yours yourself youve
    """,
    "de": """
        aber alle allem allen aller alles als also am an andere anderen anderer anderes auch auf
        aus bei beim bereits bin bis bitte bist da dabei dadurch daher damit danach dann daran
        darauf daraus darf das dass davon dazu dein deine deinem deinen deiner dem den denn der
        deren des dessen die dies diese diesem diesen dieser dieses doch dort du durch ein eine
        einem einen einer eines einige einigen er es etwas euch euer eure falls für gab gar gegen
        geht gibt habe haben hallo hat hatte hätte hier hin ich ihm ihn ihnen ihr ihre ihrem
        ihren ihrer im in ins irgendwie ist ja je jede jedem jeden jeder jedes jetzt jetzt kann
        kannst kein keine keinem keinen keiner können könnte lassen machen mal man mehr mein
        meine meinem meinen meiner mich mir mit möchte möglich muss müssen nach nicht nichts noch
        nun nur ob oder ohne schon sehr sein seine seinem seinen seiner seit sich sie sind so
        sobald sogar soll sollen sollte sondern sonst sowie über um und uns unser unsere unter
        viel vom von vor wann war waren warum was weil welche welchem welchen welcher welches
        wenn wer werden weshalb wie wieder wieso will wir wird wo woher wohin wollen worden wurde
        wurden würde zu zum zur zwar zwischen
    """,
    "fr": """
        à afin ai ainsi alors après as au aucun aucune auquel aussi autre autres aux avait avant
        avec avez avoir avons bonjour bien c ça car ce ceci cela celle celles celui ces cet cette
        ceux chaque ci comme comment d dans de depuis des dès donc dont du elle elles en encore
        entre es est et étaient était êtes être eux fait faire faut il ils j je jusqu l la là le
        les leur leurs lorsque lui m ma mais me merci mes moi moins mon n ne ni non nos notre
        nous on ont or ou où par parce pas pendant peu peut peux plus plutôt possible pour
        pourquoi pourrait pouvez pouvoir puis puisque qu quand que quel quelle quelles quels qui
        quoi s sa sans se sera ses si soit son sont souhaite sous suis sur t ta te tes toi ton
        tous tout toute toutes très tu un une va vais veux vos votre voudrais vous vouloir y
    """,
    "es": """
        a además al algo algún alguna algunas alguno algunos antes aquel aquella aquí así aún
        aunque cada casi como cómo con contra cual cuál cuáles cualquier cuando cuándo de del
        desde donde dónde durante e el él ella ellas ellos en entonces entre era eran es esa esas
        ese eso esos esta está estaba estamos están estar estas este esto estos estoy fue fueron
        gracias ha haber había hace hacer hacia han hasta hay hola la las le les lo los más me mi
        mí mis mientras mucho muy nada ni no nos nosotros nuestra nuestro o os otra otras otro
        otros para pero poco podemos poder podría por porque posible pues puede puedes puedo que
        qué quien quién quiero quisiera se sea según ser si sí sido siempre sin sobre sólo solo
        son soy su sus también tampoco tan tanto te tener tengo ti tiene tienes toda todas todavía
        todo todos tu tú tus un una unas uno unos usted ustedes voy y ya yo
    """,
    "pt": """
        a à ainda além algo algum alguma algumas alguns ao aos antes após aquela aquele aquilo as
        às até cada com como contra contudo da das de dela dele deles depois desde dessa desse
        desta deste do dos e é ela elas ele eles em enquanto então entre era essa essas esse esses
        esta está estamos estão estar estas este estes estou eu faço fazer foi for foram há isso
        isto já lhe lhes mais mas me mesmo meu meus minha minhas muito na não nas nem nenhum
        nessa nesse nesta neste no nos nós nossa nosso num numa o obrigado olá onde os ou outra
        outras outro outros para pela pelas pelo pelos pode podemos poder podia por porém porque
        posso possível pra qual quais qualquer quando que quem quero são se seja sem sempre ser
        será seu seus si sido sim só sob sobre sou sua suas também tão te tem têm tenho ter teu
        todas todo todos tu tua tudo um uma umas uns vai vocês você vou
    """,
    "it": """
        a ad agli ai al alla alle allo anche ancora avere aveva c che chi ci ciao ciò coi col come
        con contro cosa così cui d da dagli dai dal dalla dalle dallo degli dei del dell della
        delle dello dentro di dopo dove e è ed era erano essere fa fare fino fra già gli grazie ha
        hai hanno ho i il in io l la là le lei li lo loro lui ma me mentre mi mia mie miei mio
        molto ne né negli nei nel nella nelle nello no noi non nostra nostro o ogni oppure per
        perché però più poi posso possibile possiamo potrei puoi può qual quale quali qualche
        quando quanto quella quelle quelli quello questa queste questi questo qui s sarà se sei
        sempre senza si sì sia siamo siete sono sta stato su sua sue sugli sui sul sulla sulle
        sullo suo suoi tra tu tua tue tuo tuoi tutte tutti tutto un una uno va vi voglio voi
        vorrei vostra vostro
    """,
    "nl": """
        aan al alle alleen als altijd andere ben bent bij bijna dan dat de deze die dit doe doen
        door dus een en er erg ergens geen gaan gaat graag had haar hallo heb hebben hebt heeft
        hem hen het hier hij hoe hun ik in is ja je jij jou jouw jullie kan kun kunnen kunt maar
        mag me meer met mij mijn moet moeten mogelijk na naar net niet niets nog nu of om omdat
        ons onze ook op over sinds te tegen toch toen tot u uit uw van vanaf veel via volgens voor
        waar waarom wanneer want waren was wat we wel welk welke werd wie wij wil willen word
        worden wordt zal ze zeer zelf zich zij zijn zo zonder zou
    """,
    "sv": """
        alla allt att av bara blev bli blir de dem den denna deras dess dessa det detta dig din
        dina dit ditt du där då efter eller en er ert ett för från gör göra ha hade han har hej
        hennes henne hon honom hur här i icke igen in inte jag ju kan kunde man med mellan men mig
        min mina mitt mot mycket måste ni nu när någon något några och om oss på samma sedan sig
        sin sina själv ska skulle som så sådan tack till under upp ut vad var vara varför vart
        vem vi vid vilka vilken vilket vill vår våra än är även över
    """,
    "da": """
        af alle alt andet andre at blev blive bliver da de dem den denne der deres det dette dig
        din disse dog du efter eller en end er et for fra gør gøre ham han hans har havde have
        hej hende hendes her hos hun hvad hvilken hvis hvor hvordan hvorfor hvornår i ikke ind
        jeg jer jo kan kunne man mange med meget men mig min mine mit mod må når nu og også om op
        os over på selv sig sin skal skulle som sådan tak thi til ud under var ved vi vil ville
        vores være
    """,
    "nb": """
        alle at av bare ble bli blir da de deg dem den denne der deres det dette din disse ditt du
        eller en enn er et etter for fra før gjør gjøre ha hadde han hans har hei henne her hos
        hun hva hvem hvilken hvis hvor hvordan hvorfor i ikke inn jeg kan kunne man med meg meg
        mellom men min mine mitt mot mye må når nå og også om opp oss over på samme seg selv sin
        skal skulle slik som så takk til under ut var ved vi vil ville vår være
    """,
    "pl": """
        a aby ale ani ba bardzo bez bo być by był była było były chcę ci co coś czy dla dlaczego
        do gdy gdzie go i ich ile im in jak jaka jaki jakie jako je jego jej jest jestem jeszcze
        jeśli już każdy kiedy kto która które którego której który których którzy lub ma mam mi
        mnie może można mogę mój moja moje mu my na nad nam nas nasz nie nich nim niż no o od ona
        one oni ono oraz pan po pod poza przed przez przy są się sobie swoje ta tak także tam te
        tego tej ten też to tu twój ty tych tylko tym u w we wiec więc wszystko z za ze że żeby
    """,
    "ru": """
        а без бы был была были было быть в вам вами вас весь во вот все всего всех вы где да даже
        для до его ее если есть еще же за здесь и из или им их к как какая какие какой ко когда
        кто ли либо лучше мне может можно мой моя мои мы на надо нам нас наш не него нее нет ни
        них но ну нужно о об однако он она они оно от очень по под пожалуйста после почему при с
        сам свой себя со спасибо так также такой там тем то того тоже только том тот ты у уже хочу
        хотя чего чей чем что чтобы эта эти это этот я
    """,
}

STOP_WORDS: dict[str, frozenset[str]] = {
    language: frozenset(words.split()) for language, words in _LISTS.items()
}
"""Base language code to its words: case-folded, with their accents, without apostrophes."""
