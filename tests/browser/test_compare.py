"""Two jobs ticked in the list, compared, swapped, aligned otherwise, and found again by their address."""

from __future__ import annotations

import re

from playwright.sync_api import Page, expect

A, B = "tf-hvd-resnet50-cifar10-256", "tf-hvd-resnet50-cifar10-512"


def test_the_saving_of_the_second_run(page: Page, site: str) -> None:
    page.goto(site)
    for name in (B, A):
        row = page.locator(f'.ag-pinned-left-cols-container [role="row"]:has-text("{name}")')
        row.locator("input[type=checkbox]").check()
    page.get_by_role("link", name="Compare", exact=True).click()
    expect(page).to_have_url(re.compile(rf"/compare\?a={A}-[0-9a-f]{{8}}&b={B}-[0-9a-f]{{8}}$"))
    expect(page.locator(".run-a .run-name")).to_have_text(A)
    cost = page.locator("table.verdicts tr", has_text="Cost")
    expect(cost).to_contain_text("6.16 USD")
    expect(cost).to_contain_text("−82.7 %")

    page.get_by_role("link", name="Swap A and B").click()
    expect(page.locator(".run-a .run-name")).to_have_text(B)
    expect(cost).to_contain_text("+477.1 %")  # 6.15672 / 1.06675 - 1 is 4.7715

    page.get_by_role("button", name="First step").click()
    expect(page).to_have_url(re.compile(r"align=loop"))
    lines = page.locator('[data-panel="compare-lines"]')
    lines.scroll_into_view_if_needed()
    expect(lines).to_have_class(re.compile("drawn"))
    page.reload()
    expect(page.locator(".run-a .run-name")).to_have_text(B)
    expect(page.get_by_role("button", name="First step")).to_have_attribute("aria-pressed", "true")


def test_a_job_leads_to_the_choice_of_another(page: Page, site: str) -> None:
    page.goto(site)
    page.get_by_role("link", name=A).click()
    page.get_by_role("link", name="Compare with").click()
    page.locator(".choice").get_by_role("link", name=B).click()
    expect(page.locator(".run-b .run-name")).to_have_text(B)
