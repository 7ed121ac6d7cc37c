"""What is kept of a turn: conversation and answer, its ledger, and the gaps it shows."""

from assistant.models.access_log import AccessRecord
from assistant.models.conversation import (
    Answer,
    AnswerFeedback,
    Conversation,
    Grounding,
    Origin,
)
from assistant.models.costs import CostReport
from assistant.models.endpoints import ToolsRefusal
from assistant.models.escalation import Escalation
from assistant.models.gaps import (
    GapCheck,
    GapCheckAnswer,
    GapProposal,
    GapQuestion,
    GapRun,
    GapStep,
    GapTopic,
)
from assistant.models.ledger import (
    AnswerDocument,
    AnswerPassage,
    CitationSupport,
    ConversationReference,
    DroppedCitation,
    ToolCall,
)
from assistant.models.review import AnswerReview
from assistant.models.usage import ErasedUsage

__all__ = [
    "AccessRecord",
    "Answer",
    "AnswerDocument",
    "AnswerFeedback",
    "AnswerPassage",
    "AnswerReview",
    "CitationSupport",
    "Conversation",
    "ConversationReference",
    "CostReport",
    "DroppedCitation",
    "ErasedUsage",
    "Escalation",
    "GapCheck",
    "GapCheckAnswer",
    "GapProposal",
    "GapQuestion",
    "GapRun",
    "GapStep",
    "GapTopic",
    "Grounding",
    "Origin",
    "ToolCall",
    "ToolsRefusal",
]
