import { fileEntry } from '../entries.js';
import { directoryHash } from './directory-hash.js';

it('is the hash of the Dirhash Standard, as in the tests of dirhash', () => {
  const files = [
    fileEntry('f1', 'a'),
    fileEntry('d1/f1', 'b'),
    fileEntry('d1/d11/f1', 'c'),
    fileEntry('d2/f1', 'd'),
  ];
  const expected = 'ef7e95269fbc0e3478ad31fddd1c7d08907d189c61725332e8a2fd14448fe175';
  expect(directoryHash(files)).toBe(expected);
  expect(directoryHash(files.toReversed())).toBe(expected);
  expect(directoryHash([...files, fileEntry('d1/F', '')])).not.toBe(expected);
});
