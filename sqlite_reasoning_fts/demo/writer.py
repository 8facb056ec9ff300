"""Writes the text of demo messages: thoughts, answers, questions, tool calls and tool output.

Texts are mixed from the pieces of a corpus, sentence by sentence, so that no two rows share a
long stretch. Each session has a subject (a neighbourhood in the corpus), a language and its own
names (files, request ids, commits, error codes). The names make the long tail of the
vocabulary: most of them stand in a handful of rows of one session.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from random import Random

from .corpus import Corpus

# Half of a session's text comes from a stretch of this many pieces of the corpus, and a passage
# of a few paragraphs from a short stretch within it: words come in bursts, as in real text.
_NEIGHBOURHOOD = 4000
_PASSAGE = 12

_OPENERS = (
    "I need to check whether", "Let me see if", "It looks like", "The user wants to know why",
    "So", "Wait, maybe", "First I should find out if", "Hmm,", "Another option:", "I think that",
    "The question is whether", "Actually,", "Next step:", "It is possible that", "If I am right,",
    "I remember that", "Before that I want to verify that", "This suggests that", "Perhaps",
    "Given the output,", "The error means that", "I should not forget that", "Let me try this:",
)  # fmt: skip
_JOINTS = (
    ", and", ", but", ", because", " while", " unless", ", so", " even though", ";", " or else",
    ", which means that", " until", ", whereas", " before", " after", " since", ": either",
)  # fmt: skip
_MENTIONS = (
    "in {}", "see {}", "({})", "as {} shows", "just like {}", "compare {}", "`{}`", "for {}",
)  # fmt: skip
_ASKS = (
    "Can you find out why", "Please fix this:", "How do I make sure that", "Look again,",
    "I get an error:", "Write a test for this:", "Explain why", "Could you check if",
    "It still does not work:", "Thanks. Now", "Do it for {} too, because", "Continue with {}:",
)  # fmt: skip
# Clauses of other languages and scripts; a foreign session mixes them with English.
_FOREIGN = (
    (
        "die Größe der Datei stimmt nicht mit der Angabe überein", "wir müssen zunächst prüfen",
        "ob der Schlüssel wirklich gültig ist", "die Übertragung läuft über einen Zwischenspeicher",
        "außerdem fehlt die Prüfung für ungültige Einträge", "das erklärt den Ärger mit der Straße",
        "danach lässt sich die Änderung rückgängig machen", "für später vormerken",
    ),
    (
        "la requête échoue à cause d'un délai dépassé", "il faut vérifier le numéro de révision",
        "le fichier a déjà été créé", "où se trouve la clé étrangère", "ça marche très bien après",
        "el año está mal escrito en la configuración", "la conexión se cerró sin señal",
        "o orçamento não foi atualizado", "a função já não é necessária",
    ),
    (
        "нужно проверить журнал ошибок", "соединение закрыто до завершения запроса",
        "файл не найден в рабочем каталоге", "сначала посмотрим на настройки",
    ),
    (
        "需要先检查配置文件", "这个错误说明索引没有更新", "用户想知道为什么构建失败",
        "数据库连接超时", "我应该先运行测试", "这里缺少一个参数", "内存使用量过高", "搜索结果为空",
    ),
    (
        "まず設定ファイルを確認する", "テストが失敗した原因を調べる",
        "データベースの接続が切れている", "ユーザーは検索結果を知りたい",
        "この関数は引数が足りない", "キャッシュを消してから再実行する",
    ),
)  # fmt: skip
_EMOJI = ("✅", "🚀", "⚠️", "🎉", "🔍", "👍", "🐛", "📦")
_SYLLABLES = (
    "ba", "dor", "fen", "gil", "har", "jo", "kel", "lum", "mir", "nax", "os", "pel", "qui", "rav",
    "sol", "tur", "ul", "vek", "wim", "xan", "yor", "zet", "cri", "dra", "flo", "gan", "hex", "ith",
)  # fmt: skip
# Coined words are numbered; the commonest of them are not common. An archive of any size draws
# from all of them, so that its vocabulary grows with its text.
_COMMONEST, _COINED = 800, 600_000
_TOOLS = (
    ("terminal", "command"), ("read_file", "path"), ("terminal", "command"),
    ("search_files", "pattern"), ("write_file", "content"), ("patch", "patch"),
    ("execute_code", "code"), ("web_search", "query"), ("terminal", "command"),
    ("delegate_task", "goal"),
)  # fmt: skip


@dataclass(slots=True)
class Topic:
    """What one session is about: a place in the corpus, a language, names of its own.

    passage: where in the session's neighbourhood the text is that is being written.
    """

    sentences: int
    clauses: int
    code: int
    foreign: tuple[str, ...] | None
    names: list[str]
    passage: int = 0


@dataclass(frozen=True)
class Call:
    """The tool calls of one turn: the JSON as the agent stores it, ids and names in order."""

    json: str
    ids: tuple[str, ...]
    names: tuple[str, ...]


class Writer:
    """Makes texts of about a given number of characters, never more."""

    def __init__(self, corpus: Corpus, rng: Random) -> None:
        self._corpus = corpus
        self._random = rng.random
        self._rng = rng

    def topic(self, rows: int) -> Topic:
        """The subject of a new session that will have `rows` messages."""
        corpus, random = self._corpus, self._random
        place = random()
        names = [self._name() for _ in range(6 + rows // 3)]
        return Topic(
            int(place * len(corpus.sentences)),
            int(place * len(corpus.clauses)),
            int(place * len(corpus.code)),
            self._rng.choice(_FOREIGN) if random() < 0.07 else None,
            names,
        )

    def title(self, topic: Topic, number: int) -> str:
        """A title that no other session has."""
        return f"{self._clause(topic)[:60]} #{number}"

    def thought(self, size: int, topic: Topic) -> str:
        """Reasoning: paragraphs of prose, some code."""
        random = self._random
        parts: list[str] = []
        length = 0
        while length < size:
            if size > 200 and random() < 0.3:
                part = self._fenced(topic)
            else:
                part = self._paragraph(topic, 1 + int(random() * 5), _OPENERS)
            parts.append(part)
            length += len(part) + 2
        return _cut("\n\n".join(parts), size)

    def answer(self, size: int, topic: Topic) -> str:
        """What the assistant says: prose, lists and code."""
        random = self._random
        parts: list[str] = []
        length = 0
        while length < size:
            chance = random()
            if size > 300 and chance < 0.2:
                part = self._fenced(topic)
            elif chance < 0.4:
                count = 2 + int(random() * 4)
                part = "\n".join(f"- {self._sentence(topic)}" for _ in range(count))
            else:
                part = self._paragraph(topic, 1 + int(random() * 4), _OPENERS[1:4])
            if random() < 0.02:
                part = f"{_EMOJI[int(random() * len(_EMOJI))]} {part}"
            parts.append(part)
            length += len(part) + 2
        return _cut("\n\n".join(parts), size)

    def question(self, size: int, topic: Topic) -> str:
        """What the user says; long ones have a log pasted in."""
        text = self._paragraph(topic, 1 + size // 120, _ASKS)
        while len(text) < size:
            text += "\n\n" + self.output(size - len(text), topic)
        return _cut(text, size)

    def output(self, size: int, topic: Topic) -> str:
        """What a tool prints: source text, log lines, search hits, pages of prose."""
        random, corpus = self._random, self._corpus
        style = random()
        parts: list[str] = []
        length = 0
        while length < size:
            chance = random()
            if style < 0.45:
                part = self._code(topic) + "\n"
            elif style < 0.65:
                part = self._log_line(topic)
            elif style < 0.8:
                line = corpus.code[int(random() * len(corpus.code))].partition("\n")[0]
                part = f"{self._pick_name(topic)}:{int(random() * 2000)}: {line.strip()}"
            elif chance < 0.3:
                part = self._code(topic) + "\n"
            else:
                part = self._paragraph(topic, 2 + int(random() * 5), ()) + "\n"
            parts.append(part)
            length += len(part) + 1
        return _cut("\n".join(parts), size)

    def call(self, size: int, count: int, topic: Topic) -> Call:
        """The JSON of `count` tool calls, about `size` characters together."""
        calls, ids, names = [], [], []
        for _ in range(count):
            name, argument = _TOOLS[int(self._random() * len(_TOOLS))]
            identity = f"call_{self._rng.getrandbits(64):016x}"
            # The wrapping is about 120 characters; escapes lengthen the argument further.
            room = max(8, int((size / count - 120) * 0.93))
            if name in ("write_file", "patch", "execute_code"):
                value = self.output(room, topic)
            elif name == "terminal":
                value = _cut(f"{self._pick_name(topic)} {self._clause(topic)}", room)
                if room > len(value) + 40:
                    value += " <<'EOF'\n" + self.output(room - len(value), topic) + "\nEOF"
            else:
                value = self._paragraph(topic, 1 + room // 90, ())[:room]
            arguments = json.dumps({argument: value})
            function = {"name": name, "arguments": arguments}
            calls.append({"id": identity, "type": "function", "function": function})
            ids.append(identity)
            names.append(name)
        return Call(json.dumps(calls), tuple(ids), tuple(names))

    def secret(self) -> str:
        """Encrypted reasoning: bytes that nobody can read, in base64's alphabet."""
        return "gAAAAA" + f"{self._rng.getrandbits(1200):0300x}"

    def _paragraph(self, topic: Topic, sentences: int, openers: tuple[str, ...]) -> str:
        random = self._random
        self._turn_page(topic, 0.25)
        parts: list[str] = []
        for _ in range(sentences):
            if openers and random() < 0.3:
                opener = openers[int(random() * len(openers))].format(self._pick_name(topic))
                parts.append(f"{opener} {self._clause(topic)}.")
            else:
                parts.append(self._sentence(topic))
        return " ".join(parts)

    def _sentence(self, topic: Topic) -> str:
        random, corpus = self._random, self._corpus
        if topic.foreign is not None and random() < 0.35:
            pool = topic.foreign
            joint = "、" if pool[0][0] > "\u2fff" else ", "
            return joint.join(pool[int(random() * len(pool))] for _ in range(2)) + "."
        chance = random()
        if chance < 0.5:
            at = self._near(topic, len(corpus.sentences), 0.9)
            text = corpus.sentences[(topic.sentences + at) % len(corpus.sentences)]
            return f"{text[:-1]} {self._mention(topic)}." if chance < 0.2 else text
        joint = _JOINTS[int(random() * len(_JOINTS))]
        text = f"{self._clause(topic)}{joint} {self._clause(topic)}"
        if chance < 0.85:
            text = f"{text} {self._mention(topic)}"
        return f"{text[0].upper()}{text[1:]}."

    def _mention(self, topic: Topic) -> str:
        mention = _MENTIONS[int(self._random() * len(_MENTIONS))]
        return mention.format(self._pick_name(topic))

    def _clause(self, topic: Topic) -> str:
        clauses = self._corpus.clauses
        return clauses[(topic.clauses + self._near(topic, len(clauses), 0.8)) % len(clauses)]

    def _code(self, topic: Topic) -> str:
        code = self._corpus.code
        self._turn_page(topic, 0.3)
        return code[(topic.code + self._near(topic, len(code), 0.8)) % len(code)]

    def _turn_page(self, topic: Topic, likely: float) -> None:
        """Goes on in another passage, if the dice say so: in the neighbourhood or anywhere."""
        random = self._random
        if random() < likely:
            near = random() < 0.4
            topic.passage = int(random() * (_NEIGHBOURHOOD if near else len(self._corpus.code)))

    def _near(self, topic: Topic, pieces: int, likely: float) -> int:
        """How far from the topic's place to look: likely in its passage, else anywhere."""
        random = self._random
        if random() < likely:
            return topic.passage + int(random() * _PASSAGE)
        return int(random() * pieces)

    def _fenced(self, topic: Topic) -> str:
        return f"```python\n{self._code(topic)}\n```"

    def _log_line(self, topic: Topic) -> str:
        random = self._random
        second = int(random() * 86_400)
        level = ("INFO", "DEBUG", "WARNING", "ERROR")[int(random() * random() * 4)]
        return (
            f"{second // 3600:02d}:{second // 60 % 60:02d}:{second % 60:02d} {level} "
            f"[{self._pick_name(topic)}] {self._clause(topic)} ({int(random() * 900)} ms)"
        )

    def _pick_name(self, topic: Topic) -> str:
        """A name of the session, the first ones often; now and then one that is used once."""
        random = self._random
        if random() < 0.6:
            return self._name()
        return topic.names[int(len(topic.names) * random() * random())]

    def _name(self) -> str:
        random, rng, names = self._random, self._rng, self._corpus.names
        kind = int(random() * 8)
        word = names[int(random() * len(names))]
        if kind == 0:
            return f"req_{rng.getrandbits(40):010x}"
        if kind == 1:
            return f"{rng.getrandbits(28):07x}"
        if kind == 2:
            return f"{word.upper()[:4]}-{int(random() * 90_000) + 1000}"
        coined = self._coined()
        if kind == 3:
            return f"{coined}_{word}"
        if kind == 4:
            return f"line {int(random() * random() * 9000)} of {word}"
        if kind == 5:
            major, minor, patch = int(random() * 10), int(random() * 40), int(random() ** 2 * 900)
            return f"{word} {major}.{minor}.{patch}"
        return f"{('src', 'lib', 'tests', 'docs')[int(random() * 4)]}/{coined}/{word}.py"

    def _coined(self) -> str:
        """A word that the corpus lacks: the n-th of many, n as in Zipf's law."""
        number = int(_COMMONEST * (_COINED / _COMMONEST) ** self._random())
        parts: list[str] = []
        while number:
            number, syllable = divmod(number, len(_SYLLABLES))
            parts.append(_SYLLABLES[syllable])
        return "".join(parts)


def _cut(text: str, size: int) -> str:
    """The head of `text`, at most `size` characters, ending with a whole word if it can."""
    if len(text) <= size:
        return text
    start = max(0, size - 60)
    end = max(text.rfind(" ", start, size + 1), text.rfind("\n", start, size + 1))
    return (text[:end] if end > size // 2 else text[:size]).rstrip() or "..."[:size]
