import { fileEntry } from '../entries.js';
import { packageDigest } from './harbor-package.js';

const files = {
  'task.toml': 'schema_version="1.3"\n',
  'instruction.md': 'x',
  'environment/Dockerfile': 'FROM a',
  'tests/test.sh': 't',
  'tests/ä/b.txt': 'u',
};
const digestOf = (of: Record<string, string>) =>
  packageDigest(Object.entries(of).map(([path, text]) => fileEntry(path, text)));

it('is the digest that Harbor gives the published files', () => {
  expect(digestOf(files)).toBe(
    'sha256:ccd8aa2ca7f4c464cfde2972bd70381f2979956a7a97143fd66c50976a81b0ca',
  );
});

it('does not depend on the order of files, or on files that are not published', () => {
  const reversed = Object.fromEntries(Object.entries(files).toReversed());
  const more = { 'tests/__pycache__/a.pyc': 'p', 'tests/b.swp': 's', 'notes.txt': 'n' };
  expect(digestOf({ ...reversed, ...more })).toBe(digestOf(files));
  expect(digestOf({ ...files, 'tests/more.txt': '' })).not.toBe(digestOf(files));
});
