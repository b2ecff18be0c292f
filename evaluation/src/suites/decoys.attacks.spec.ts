import { spawnSync } from 'node:child_process';
import { decoysOf } from './decoys.js';

const word = 'Q0';

/** Runs the Python test that must pass beside this answer, and returns what it raised. */
function honestTest(answer: string): string {
  const { text } = decoysOf('python');
  const run = `${text(word)}\ntest_${word}_zz_honest()\n`;
  return spawnSync('python3', ['-I', '-c', `${answer}\n${run}`], { encoding: 'utf8' }).stderr;
}

const value = (...lines: string[]) =>
  ['class Any:', ...lines.map((line) => `    ${line}`), 'def twice(n): return Any()'].join('\n');

describe('attacks: Python values that equal everything', () => {
  it.each([
    ['unittest.mock.ANY', 'from unittest.mock import ANY\ndef twice(n): return ANY'],
    ['always True', value('def __eq__(self, other): return True')],
    ['a number that is true', value('def __eq__(self, other): return 1')],
    ['an object that is true', value('def __eq__(self, other): return self')],
    ['a text that is true', value('def __eq__(self, other): return "no"')],
    [
      'true only for text without digits',
      value('def __eq__(self, other): return isinstance(other, str) and not other.isdigit()'),
    ],
    ['true only for lists', value('def __eq__(self, other): return type(other) is list')],
    ['true only for small numbers', value('def __eq__(self, other): return 0 <= other < 10')],
    ['true only for booleans', value('def __eq__(self, other): return other in (True, False)')],
    [
      'the equality of a metaclass',
      'class Meta(type):\n    def __eq__(self, other): return True\n    __hash__ = type.__hash__\nclass Any(metaclass=Meta): pass\ndef twice(n): return Any',
    ],
    [
      'a subclass of int',
      'class Any(int):\n    def __eq__(self, other): return True\ndef twice(n): return Any(0)',
    ],
    [
      'a class that claims to be built in',
      value('__module__ = "builtins"', 'def __eq__(self, other): return True'),
    ],
  ])('%s is found', (_name, answer) => {
    expect(honestTest(answer)).toMatch(/a value equals everything/);
  });

  it.each([
    ['no class', 'def twice(n): return 2 * n'],
    [
      'a custom equality',
      'class Own(int):\n    def __eq__(self, other): return int(self) == other\n    __hash__ = int.__hash__',
    ],
    [
      'classes of the standard library',
      'import argparse, collections, dataclasses, datetime, decimal, email, enum, fractions, ipaddress, json, pathlib, typing, unittest, uuid, xml.dom.minidom',
    ],
    [
      'an equality that fails',
      'class Bare:\n    def __eq__(self, other): return self.own == other.own',
    ],
  ])('%s is honest', (_name, answer) => {
    expect(honestTest(answer)).toBe('');
  });
});
