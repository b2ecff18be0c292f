import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { canonicalDigest, canonicalJson } from './canonical-json.js';

describe('the canonical text of a value', () => {
  it('has its keys in order and nothing that could be written in two ways', () => {
    const value = { b: [1, true, null], a: { d: 'é\n"\u001f', c: -2 } };
    expect(canonicalJson(value)).toBe('{"a":{"c":-2,"d":"é\\n\\"\\u001f"},"b":[1,true,null]}');
    expect(canonicalDigest({ x: 1, y: 2 })).toBe(canonicalDigest({ y: 2, x: 1 }));
    for (const other of [0.5, NaN, -0, undefined, '\ud800', 1n, 2 ** 60])
      expect(() => canonicalJson({ other })).toThrow('no canonical form');
  });

  it('is the same in Python, whose verifier writes it again', () => {
    const text = fc.string({ unit: 'binary' });
    const key = fc.stringMatching(/^[a-zA-Z]{1,8}$/);
    const value = fc.letrec<{ any: unknown }>((tie) => ({
      any: fc.oneof(
        { maxDepth: 3 },
        text,
        fc.maxSafeInteger().map((n) => n + 0),
        fc.boolean(),
        fc.constant(null),
        fc.array(tie('any'), { maxLength: 3 }),
        fc.dictionary(key, tie('any'), { maxKeys: 3 }),
      ),
    })).any;
    const values = fc.sample(value, 200);
    const script = `import json, sys
for line in sys.stdin.buffer:
    one = json.dumps(json.loads(line), sort_keys=True, separators=(',', ':'), ensure_ascii=False)
    sys.stdout.buffer.write(one.encode() + b'\\n')`;
    const input = values.map((one) => `${JSON.stringify(one)}\n`).join('');
    const written = execFileSync('python3', ['-c', script], { input }).toString();
    expect(written).toBe(values.map((one) => `${canonicalJson(one)}\n`).join(''));
  });
});
