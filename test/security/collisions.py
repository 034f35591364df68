# SPDX-License-Identifier: Apache-2.0
"""Texts that std::hash of libstdc++ cannot tell apart, for tests of tables that are keyed by what users write.

    collisions.texts(count)      so many texts of 48 letters and digits, all of one hash value
    collisions.names(count)      the same of 96 lower-case letters and digits, as names of pods are

Its hash of eight bytes at a time can be undone: for any first half there is one second half that brings the state back to where it began,
and it consists of letters and digits once in 65,000 tries. Blocks that do so can follow each other in any order.
"""

import functools
import itertools

_MASK = (1 << 64) - 1
_FACTOR = 0xC6A4A7935BD1E995
_INVERSE = pow(_FACTOR, -1, 1 << 64)
_SEED = 0xC70F6907
_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_DIGITS = "0123456789"
_BLOCK = 16
# What _blocks() finds for names of 96 lower-case letters and digits, in a minute: there are fewer letters, and hits are rarer.
_NAME_BLOCKS = (
    "oif4caaafjyclngs", "avjfdaaazncwltem", "m24pjaaa5f0pn0k3", "ol1tjaaan2u8ldov", "33h4naaanqlcrtnt",
    "kz6ataaase4xuiuk", "2xcazaaarz3qezod", "84j0zaaa74z0y0p1", "rzrd3aaa8urnmpyb", "a1cl9aaav5xt540d")


def _shifted(value):
    return value ^ (value >> 47)  # its own inverse


def _scrambled(word):
    return _shifted(word * _FACTOR & _MASK) * _FACTOR & _MASK


def _unscrambled(word):
    return _shifted(word * _INVERSE & _MASK) * _INVERSE & _MASK


def std_hash(text):
    """What std::hash<std::string_view> of libstdc++ makes of it where size_t has 64 bits."""
    data = text.encode()
    state = _SEED ^ (len(data) * _FACTOR & _MASK)
    whole = len(data) & ~7
    for at in range(0, whole, 8):
        state = (state ^ _scrambled(int.from_bytes(data[at:at + 8], "little"))) * _FACTOR & _MASK
    if len(data) & 7:
        state = (state ^ int.from_bytes(data[whole:], "little")) * _FACTOR & _MASK
    return _shifted(_shifted(state) * _FACTOR & _MASK)


def _blocks(alphabet, length, count):
    """`count` texts of _BLOCK characters that leave the hash of a text of `length` as it was before them."""
    begin = _SEED ^ (length * _FACTOR & _MASK)
    wanted = begin * _INVERSE & _MASK
    allowed = frozenset(alphabet.encode())
    found = []
    for letters in itertools.product(alphabet, repeat=8):
        first = "".join(reversed(letters)).encode()
        state = (begin ^ _scrambled(int.from_bytes(first, "little"))) * _FACTOR & _MASK
        second = _unscrambled(state ^ wanted).to_bytes(8, "little")
        if allowed.issuperset(second):
            found.append((first + second).decode())
            if len(found) == count:
                return found
    raise ValueError(f"there are no {count} such blocks")


@functools.lru_cache
def texts(count):
    """`count` different texts of one hash, 48 letters and digits each; 5 seconds for 30,000."""
    return _joined(_blocks(_LETTERS + _LETTERS.upper() + _DIGITS, 3 * _BLOCK, _root(count, 3)), 3, count)


@functools.lru_cache
def names(count):
    """`count` different names of one hash, 96 lower-case letters and digits each; at most a million."""
    return _joined(_NAME_BLOCKS, 6, count)


def _root(count, degree):
    """The least number whose power of `degree` is at least count."""
    return next(number for number in itertools.count(1) if number ** degree >= count)


def _joined(blocks, places, count):
    if len(blocks) ** places < count:
        raise ValueError(f"only {len(blocks) ** places} texts of one hash, not {count}")
    return ["".join(parts) for parts in itertools.islice(itertools.product(blocks, repeat=places), count)]
