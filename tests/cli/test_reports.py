import json
import re


def test_a_report_beside_the_table(command, mixed, tmp_path):
    code, _, err = command("select", mixed, "-t", "y", "--report", "r.html", "-o", "few.csv", "--stability", 4)
    assert code == 0, err
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "<html" in page
    assert "<script>alert(1)</script>" not in page
    assert sorted(path.name for path in tmp_path.iterdir()) == ["few.csv", "mixed.csv", "r.html"]


def test_a_saved_report_becomes_a_page(command, numbers, tmp_path):
    code, _, err = command("select", numbers, "-t", "y", "-k", 2, "--report", "r.json", "--stability", 0)
    assert code == 0, err
    json.loads((tmp_path / "r.json").read_text(encoding="utf-8"))
    code, _, err = command("report", "r.json")
    assert (code, err) == (0, "wrote r.html\n")
    assert "<html" in (tmp_path / "r.html").read_text(encoding="utf-8")
    assert command("report", "r.json", "-o", "r.md")[0] == 0
    assert command("report", "r.json", "-o", "r.json")[0] == 1
    assert command("report", "r.json", "-o", "r.pdf")[0] == 2
    (tmp_path / "x.json").write_text("{}")
    code, _, err = command("report", "x.json")
    assert code == 1
    assert "is not a report" in err


def test_weights_and_cross_validation(command, mixed, tmp_path):
    args = ("select", mixed, "-t", "y", "-k", 3, "--report", "r.md", "--sample-weight", "weight", "--stability", 2)
    code, _, err = command(*args, "--cv", "random")
    assert code == 0, err
    assert (tmp_path / "r.md").stat().st_size > 500


def test_a_report_without_pictures_advises_options(command, numbers, tmp_path):
    args = ("select", numbers, "-t", "y", "-k", 2, "--stability", 0, "--report")
    assert command(*args, "with.json")[0] == 0
    assert json.loads((tmp_path / "with.json").read_text(encoding="utf-8"))["pictures"]["columns"]
    assert command(*args, "without.json", "--no-pictures")[0] == 0
    assert json.loads((tmp_path / "without.json").read_text(encoding="utf-8"))["pictures"] is None
    assert command("report", "without.json")[0] == 0
    page = (tmp_path / "without.html").read_text(encoding="utf-8")
    assert "--stability 50" in page
    assert "--cv" in page
    assert "stability=" not in page
    assert "cv=True" not in page


def test_demo(easyfs, tmp_path):
    found = easyfs("demo", "--folder", "here")
    assert found.returncode == 0, found.stderr
    assert "a made table" in found.stdout
    assert "6 of the 6 found" in found.stdout
    assert "and no others" in found.stdout
    accuracy = dict(re.findall(r"^(\d chosen|\d random|all 2,000) columns +(0\.\d+)", found.stdout, re.MULTILINE))
    assert float(accuracy["6 chosen"]) > float(accuracy["all 2,000"]) + 0.15
    assert float(accuracy["all 2,000"]) > float(accuracy["6 random"])
    assert "here/report.html" in found.stdout.replace("\\", "/")
    assert sorted(path.name for path in (tmp_path / "here").iterdir()) == ["chosen.csv", "genes.csv", "report.html"]
    page = (tmp_path / "here" / "report.html").read_text(encoding="utf-8")
    assert all(score in page for score in accuracy.values())
    assert "a made table" in page
    again = easyfs("select", "here/genes.csv", "--target", "diagnosis", "-o", "-")
    assert again.stdout == (tmp_path / "here" / "chosen.csv").read_text()
