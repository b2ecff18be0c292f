import { fromEnvelope } from '@belay/proof';
import { z } from 'zod';
import { TestLogs } from '../testing/logs.js';
import { SigningKeys } from './signing-keys.js';

describe('the signing keys', () => {
  let logs: TestLogs;
  let keys: SigningKeys;
  const opened = async () => new SigningKeys(await logs.documents());
  beforeEach(async () => {
    logs = await new TestLogs().open();
    keys = await opened();
  });
  afterEach(() => logs.close());

  const text = Buffer.from('text');
  const signed = () => keys.sign('text/plain', text);

  it('are made when they are first needed, once, and kept through a restart', async () => {
    expect(keys.list()).toEqual([]);
    const [envelope] = await Promise.all([signed(), signed()]);
    expect(keys.list()).toHaveLength(1);
    await logs.reopen();
    const again = await opened();
    expect(again.list()).toEqual(keys.list());
    expect(fromEnvelope(envelope, again.list()).payload).toEqual(text);
    expect(await again.sign('text/plain', text)).toEqual(envelope);
  });

  it('are one for two servers that make the first at once', async () => {
    const other = await opened();
    await Promise.all([signed(), other.sign('text/plain', text)]);
    expect((await opened()).list()).toHaveLength(1);
    expect(other.list()).toEqual(keys.list());
  });

  it('hold when another one signs, and no longer once revoked', async () => {
    const before = await signed();
    const first = before.signatures[0]?.keyid ?? '';
    const second = await keys.rotate();
    const after = await signed();
    expect(after.signatures[0]?.keyid).toBe(second.kid);
    expect(keys.list()).toMatchObject([{ kid: first, retired: second.created }, { retired: null }]);
    expect(fromEnvelope(before, keys.list()).key.kid).toBe(first);
    const { revoked } = await keys.revoke(first);
    expect(() => fromEnvelope(before, keys.list())).toThrow(`was revoked on ${revoked}`);
    expect((await keys.revoke(first)).revoked).toBe(revoked);
    await keys.revoke(second.kid);
    const third = await signed();
    expect(keys.list()).toHaveLength(3);
    expect(fromEnvelope(third, keys.list()).key).toEqual(keys.list()[2]);
    await expect(keys.revoke('a'.repeat(64))).rejects.toMatchObject({ code: 'not_found' });
  });

  it('have one private half, which is stored encrypted and not published', async () => {
    await signed();
    await keys.rotate();
    const { value } = (await logs.documents()).open('signing', storedKeys, null);
    const secret = value?.secret ?? '';
    expect(secret).toHaveLength(64);
    const rows = await logs.database.kysely.selectFrom('document').selectAll().execute();
    expect(JSON.stringify(rows)).not.toContain(secret);
    expect(JSON.stringify(keys.list())).not.toContain(secret.slice(-43));
    expect(Object.keys(keys.list()[0] ?? {})).not.toContain('d');
  });
});

const storedKeys = z.object({ secret: z.string() }).nullable();
