import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { DoesNotHold } from '@belay/proof';
import {
  AppError,
  type ChangeStatement,
  type JudgedClaim,
  type RerunReport,
  type RerunVerdict,
} from '@belay/protocol';
import { repeatClaims } from './repeat-claims.js';

const id = '1'.repeat(64);
const envelope = { payloadType: 'x', payload: '', signatures: [] };
const claimed = (verdict: RerunVerdict, why = ''): JudgedClaim => ({
  claim: 'check',
  verdict,
  why,
  command: 'npm test',
  runs: [],
});
const reportOf = (image: string, ...claims: JudgedClaim[]): RerunReport => ({
  image: { name: 'node', id: image },
  claims,
});
const statementOf = (reruns: RerunReport | null) =>
  ({ predicate: { reruns, record: { sha256: id } } }) as unknown as ChangeStatement;

let server: Server;
let where: { url: string };
/** What the server finds now; undefined where it does not have the statement. */
let found: RerunReport | undefined;
const sent: string[] = [];

beforeAll(async () => {
  process.env.BELAY_TOKEN = 'token';
  server = createServer(({ method, url }, response) => {
    sent.push(`${method} ${url}`);
    const problem = { code: 'not_found', status: 404, detail: `There is no statement ${id}.` };
    const answer = url?.endsWith('/reruns') ? found : envelope;
    response.writeHead(found ? 200 : 404, { 'content-type': 'application/json' });
    response.end(JSON.stringify(found ? answer : problem));
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  where = { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
});
afterAll(() => {
  delete process.env.BELAY_TOKEN;
  server.close();
  server.closeAllConnections();
});

const repeat = (said: RerunReport | null) => repeatClaims(statementOf(said), where);

describe('claims that are run again', () => {
  it('are compared with those of the statement, and so is their image', async () => {
    found = reportOf('a', claimed('confirmed'));
    expect(await repeat(reportOf('a', claimed('confirmed')))).toBe(
      'Run again now, 1 claim: check confirmed.',
    );
    expect(sent).toEqual([`GET /api/evidence/${id}`, `POST /api/evidence/${id}/reruns`]);
    expect(await repeat(reportOf('b', claimed('inconclusive')))).toBe(
      'Run again now, 1 claim: check confirmed. The image node is another one than then.',
    );
  });

  it('hold no longer with the opposite verdict, and say nothing where it is inconclusive', async () => {
    const said = reportOf('a', claimed('confirmed'));
    found = reportOf('a', claimed('refuted', 'It fails.'));
    const refuted = repeat(said);
    await expect(refuted).rejects.toThrow(DoesNotHold);
    await expect(refuted).rejects.toThrow(
      'Run again now, the check is refuted, not confirmed: It fails.',
    );
    found = reportOf('a', claimed('inconclusive', 'It did not run.'));
    const unclear = repeat(said);
    await expect(unclear).rejects.toThrow(AppError);
    await expect(unclear).rejects.toThrow('the check is inconclusive: It did not run.');
  });

  it('cannot be run by a server that does not have the statement, or where nothing was run', async () => {
    found = undefined;
    await expect(repeat(reportOf('a', claimed('confirmed')))).rejects.toThrow(
      `Your server cannot run it again: There is no statement ${id}. Name the server that made the statement with --url.`,
    );
    await expect(repeat(null)).rejects.toThrow('nothing can be run again. Leave out --rerun.');
  });
});
