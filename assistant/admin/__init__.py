"""The support staff's and the writers' side of the assistant, in Django admin.

`answers` and `conversations` are the audit: everything turns left behind, read-only.
`gaps` is the writers' queue.
"""

from assistant.admin.access_log import AccessRecordAdmin
from assistant.admin.answers import AnswerAdmin
from assistant.admin.conversations import ConversationAdmin
from assistant.admin.costs import CostReportAdmin
from assistant.admin.endpoints import ToolsRefusalAdmin
from assistant.admin.gaps import GapRunAdmin, GapTopicAdmin

__all__ = [
    "AccessRecordAdmin",
    "AnswerAdmin",
    "ConversationAdmin",
    "CostReportAdmin",
    "GapRunAdmin",
    "GapTopicAdmin",
    "ToolsRefusalAdmin",
]
