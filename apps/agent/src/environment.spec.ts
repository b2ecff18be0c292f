import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readEnvironment } from './environment.js';

describe('the token of an agent', () => {
  const folder = mkdtempSync(join(tmpdir(), 'belay-'));
  const file = join(folder, 'token');
  afterAll(() => rmSync(folder, { recursive: true }));
  const read = (more: Record<string, string>) =>
    readEnvironment({ BELAY_CONNECTION: 'ws://192.0.2.1:4601', LANG: 'C', ...more });

  it('is read from a file, of which shells are told nothing', () => {
    writeFileSync(file, 'secret\n');
    const { token, shell } = read({ BELAY_TOKEN_FILE: file });
    expect(token).toBe('secret');
    expect(shell).toEqual({ LANG: 'C' });
  });

  it('comes with the authority that the server is trusted by', () => {
    writeFileSync(file, 'PEM\n');
    const { authority, shell } = read({ BELAY_CA_FILE: file });
    expect(authority).toBe('PEM');
    expect(shell).toEqual({ LANG: 'C' });
    expect(() => read({ BELAY_CA_FILE: join(folder, 'none') })).toThrow(
      /^The certificate authority in BELAY_CA_FILE cannot be read: .*ENOENT.*\.$/,
    );
  });

  it('is missed with one sentence that names the variable', () => {
    expect(() => read({ BELAY_TOKEN_FILE: join(folder, 'none') })).toThrow(
      /^The token in BELAY_TOKEN_FILE cannot be read: .*ENOENT.*\.$/,
    );
    expect(read({}).token).toBeUndefined();
  });
});
