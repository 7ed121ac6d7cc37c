"""axe-core over a page: contrast, names, landmarks, focus order, size of targets."""

from __future__ import annotations

from importlib import resources

from playwright.sync_api import Page

AXE = (resources.files("axe_playwright_python") / "axe.min.js").read_text(encoding="utf-8")
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
RUN = """async (tags) => {
  const fading = document.getAnimations().filter((animation) =>
    animation.playState === "running" && animation.effect.getComputedTiming().endTime !== Infinity);
  await Promise.allSettled(fading.map((animation) => animation.finished));
  const found = await axe.run({ runOnly: { type: "tag", values: tags }, rules: { "target-size": { enabled: true } } });
  return found.violations.flatMap((violation) => violation.nodes.map(
    (node) => `${violation.id}: ${node.target.join(" ")}: ${node.failureSummary}`));
}"""  # noqa: E501


def violations(page: Page) -> list[str]:
    """What axe-core finds wrong with the page as it stands: one line for each element.

    A colour that still fades into another, after a change to dark, is waited for.
    """
    page.evaluate(AXE)
    found: list[str] = page.evaluate(RUN, RULES)
    return found
