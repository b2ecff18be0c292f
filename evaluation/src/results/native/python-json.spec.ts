import { float, pythonJson, pythonLines } from './python-json.js';

it('writes the same bytes as json.dumps', () => {
  const value = {
    a: [1, float(1), float(0.1 + 0.2), float(1e-7), float(1e16)],
    b: {},
    c: [],
    d: null,
  };
  expect(pythonJson(value)).toBe(
    '{"a": [1, 1.0, 0.30000000000000004, 1e-07, 1e+16], "b": {}, "c": [], "d": null}',
  );
  expect(pythonJson({ a: [true, { b: 'c' }] }, { indent: 4 })).toBe(
    '{\n    "a": [\n        true,\n        {\n            "b": "c"\n        }\n    ]\n}',
  );
  expect(pythonLines([{ a: 'ä\u007f😀\n"' }])).toBe(
    '{"a": "\\u00e4\\u007f\\ud83d\\ude00\\n\\""}\n',
  );
  expect(pythonJson({ ä: 'ö' }, { unicode: true })).toBe('{"ä": "ö"}');
});
