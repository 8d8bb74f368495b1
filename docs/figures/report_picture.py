"""The picture of a report on the front page: the demo's own page, in a real browser.

    python docs/figures/report_picture.py [--browser /usr/bin/chromium]

Needs playwright (extra ``test``) and a Chromium. Writes ``docs/images/report.png``.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

IMAGES = Path(__file__).resolve().parents[1] / "images"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--browser", default="/usr/bin/chromium")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as play:
        subprocess.run([sys.executable, "-m", "easyfs", "demo", "--folder", folder], check=True, capture_output=True)
        browser = play.chromium.launch(executable_path=options.browser, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1100, "height": 900})
        page.goto((Path(folder) / "report.html").as_uri())
        page.screenshot(path=IMAGES / "report.png")
        browser.close()


if __name__ == "__main__":
    main()
