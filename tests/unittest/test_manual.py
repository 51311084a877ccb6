"""The manual: every operator has a page that says everything, and docs/operators/ is what the
declarations say.
"""

import re
from pathlib import Path

from internals import REGISTRY

import npcompat.gluon  # declares operators, too
from npcompat import ops
from npcompat.ops import _facts, _usage
from npcompat.ops.__main__ import main
from npcompat.ops._manual import manual, page, write

assert npcompat.gluon
FOLDER = Path(__file__).parents[2] / "docs" / "operators"
OPERATORS = sorted(
    name for name, op in REGISTRY.items() if op.compute.__module__.startswith("npcompat.")
)


def test_the_manual_in_the_sources_is_that_of_the_declarations():
    written = {path.name: path.read_text(encoding="utf-8") for path in FOLDER.glob("*.md")}
    wanted = manual()
    stale = sorted(
        name for name in wanted.keys() | written.keys() if wanted.get(name) != written.get(name)
    )
    assert stale == [], "write it again: python -m npcompat.ops --write docs/operators"


def test_the_index_links_to_a_page_for_each_operator():
    found = manual()
    links = dict(
        re.findall(r"^\| \[(\w+)\]\((\w+\.md)#\1\) ", found["README.md"], flags=re.MULTILINE)
    )
    assert sorted(links) == OPERATORS
    assert [name for name, file in links.items() if f"\n## {name}\n" not in found[file]] == []


def test_pages_describe_every_argument():
    for declared in [d for d in ops.list() if d.name in OPERATORS]:
        text = page(REGISTRY[declared.name])
        assert (
            text.startswith(f"## {declared.name}\n\n")
            and f"- **Pattern**: {declared.pattern}\n" in text
        )
        assert declared.doc, f"{declared.name} has no docstring"
        assert f"({', '.join(declared.inputs)})`" in text.replace("*", "")
        missing = [n for n, said in declared.inputs.items() if not said] + [
            a.name for a in declared.attrs.values() if not a.description
        ]
        assert missing == [], (
            f"{declared.name}: describe them in the docstring of the function, or of the computation"
        )
        assert all(f"{name}` |" in text for name in (*declared.inputs, *declared.attrs))
        assert (">>> " in text) == (">>> " in declared.doc)


def test_a_page_says_what_follows_from_the_declaration():
    cumsum = page(REGISTRY["_npi_cumsum"])
    for said in (
        "Running sum along an axis, or over all elements if no axis is given.",
        "`ops.Cumsum(axis=None, dtype=None, exclusive=False)(a)`; called by `np.cumsum`.",
        "| `axis` | int, optional | `None` | Along which axis; over all elements in C order if not given. |",
        "- **Types**: Sums and products: small integers accumulate in 64 bits; `dtype` overrides. bool, int8, int64 → int64;",
        "- **Support level**: 1 (jax, numpy)",
        "- **Different from NumPy**: Also takes `exclusive`.",
        ">>> np.cumsum([1, 2, 3], exclusive=True)\narray([0, 1, 3])",
    ):
        assert said in cumsum
    assert "a rule by hand completes the types of inputs" in page(REGISTRY["_npx_fully_connected"])
    assert "no quantization" in "".join(_facts.not_supported(REGISTRY["_npx_batch_norm"]))
    for name, made in (
        ("_npi_exp", "the derivative"),
        ("_npx_rnn", "by a rule by hand"),
        ("_npi_random_gamma", "by a rule by hand"),
        ("_npi_argmax", "none"),
    ):
        assert _facts.gradient(REGISTRY[name]).startswith(made), name
    assert _facts.types(REGISTRY["_npi_sin"]).endswith(
        "bool, int8, float16 → float16; int64, float32 → float32; complex64 → complex64."
    )


def test_the_functions_that_call_an_operator_are_found():
    for name, face, user in (
        ("_npi_add", "np.add", "ndarray.__add__"),
        ("_npi_random_beta", "np.random.beta", "np.random.beta"),
        ("_npi_random_dirichlet", "np.random.dirichlet", "np.random.dirichlet"),
        ("_npi_real", "ndarray.real", "ndarray.real"),
        ("_npx_image_normalize", "npx.image.normalize", "npx.image.normalize"),
        ("_npi_ufunc_reduceat", "np.ufunc.reduceat", "np.ufunc.reduceat"),
        ("_npx_lstm", None, "npx.rnn"),
        ("_npi_put_mask", None, "ndarray.__setitem__"),
    ):
        found = _usage.public_face(REGISTRY[name])
        assert (found and found[0]) == face, name
        assert user in [n for n, _ in _usage.users(REGISTRY[name])], name


def test_writing_the_manual_writes_what_changed_and_removes_what_is_gone(tmp_path):
    (tmp_path / "np_gone.md").write_text("# Gone\n")
    first = write(tmp_path)
    assert {"np_gone.md", "README.md", "np_reductions.md"} <= set(first) and not (
        tmp_path / "np_gone.md"
    ).exists()
    (tmp_path / "np_bits.md").write_text("")
    assert write(tmp_path) == ["np_bits.md"] and write(tmp_path) == []


def test_pages_and_lists_are_printed(capsys, monkeypatch, tmp_path):
    for arguments, status, printed in (
        (["cumsum"], 0, "ops.Cumsum(axis=None, dtype=None, exclusive=False)"),
        (["softmax"], 0, "## _npx_softmax"),
        (["np.random.beta"], 0, "## _npi_random_beta"),
        (["--list", "--level", "2"], 0, "_npi_random_uniform"),
        (["--list", "--pattern", "reduction", "--backend", "numpy"], 0, "_npi_sum "),
        (["cumsm"], 1, ""),
        (["--write", str(tmp_path / "operators")], 0, "np_reductions.md"),
    ):
        monkeypatch.setattr("sys.argv", ["ops", *arguments])
        assert main() == status
        out, err = capsys.readouterr()
        assert printed in out and (status == 0 or "did you mean Cumsum or _npi_cumsum" in err)
