import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import {
  allRoutes,
  errorCodes,
  isSchema,
  newEvent,
  operations,
  oauthRoutes,
} from '@belay/protocol';
import { parse } from 'yaml';
import { itLong } from '@belay/testing';
import { TestServer } from '../../testing/server.js';

interface Document {
  servers: { url: string }[];
  paths: Record<string, Record<string, { operationId: string; security?: unknown[] }>>;
  components: { schemas: Record<string, object> };
}

describe('/openapi.json', () => {
  const server = new TestServer();
  let document: Document;
  beforeAll(async () => {
    await server.start();
    document = (await (await server.fetch('/openapi.json')).json()) as Document;
  });
  afterAll(() => server.close());

  it('is a valid OpenAPI document', async () => {
    expect(await validate(document)).toMatchObject({ valid: true });
    expect(
      await validate({ ...document, paths: { '/a': { get: { responses: 1 } } } }),
    ).toMatchObject({
      valid: false,
    });
  });

  it('is explained by a table with every code and status', async () => {
    const page = await readFile(join(__dirname, '../../../../../docs/rest.md'), 'utf8');
    const rows = [...page.matchAll(/^\| `(\w+)` +\| (\d{3}) +\|/gm)];
    const explained = Object.fromEntries(rows.map(([, code, status]) => [code, Number(status)]));
    const codes = Object.entries(errorCodes).map(([code, { http }]) => [code, http] as const);
    expect(explained).toEqual(Object.fromEntries(codes));
  });

  it('names the server as its reader reaches it', () => {
    expect(document.servers).toEqual([{ url: server.url }]);
  });

  itLong('is the same as YAML, for each reader', async () => {
    const yaml = await server.fetch('/openapi.yaml');
    expect(yaml.headers.get('content-type')).toContain('application/yaml');
    expect(parse(await yaml.text())).toEqual(document);
    const url = server.url.replace('127.0.0.1', 'localhost');
    const headers = { authorization: `Bearer ${server.token}` };
    const other = await (await fetch(`${url}/openapi.yaml`, { headers })).text();
    expect(parse(other)).toEqual({ ...document, servers: [{ url }] });
  });

  it('is for everybody with a token', async () => {
    const { status } = await server.fetch('/openapi.json', { token: server.viewerToken });
    expect(status).toBe(200);
    expect((await server.fetch('/openapi.json', { token: '' })).status).toBe(401);
  });

  it('documents each operation that a user may call as a route of its own', () => {
    const prefix = '/api/sessions/{id}/operations/';
    const documented = Object.keys(document.paths).filter((path) => path.startsWith(prefix));
    const callable = Object.values(operations).filter(({ audience }) => audience.includes('user'));
    expect(documented).toEqual(callable.map(({ name }) => `${prefix}${name}`));
  });

  it('lists every route once, marks the open ones, and has no dangling references', () => {
    const routes = Object.values(document.paths).flatMap((path) => Object.values(path));
    expect(new Set(routes.map(({ operationId }) => operationId)).size).toBe(routes.length);
    const open = routes.filter(({ security }) => security?.length === 0);
    const ways = Object.keys(oauthRoutes).filter((name) => name !== 'allow');
    expect(open.map(({ operationId }) => operationId)).toEqual([
      'hooks.git',
      'hooks.run',
      'machines.join',
      'mcp.loggedIn',
      'actions.schema',
      'users.changePassword',
      'proof.keys',
      'monitoring.health',
      'monitoring.live',
      'monitoring.ready',
      ...ways.map((name) => `oauth.${name}`),
    ]);
    const references = JSON.stringify(document).matchAll(/#\/components\/schemas\/(\w+)/g);
    const missing = [...references].filter(
      ([, name = '']) => !(name in document.components.schemas),
    );
    expect(missing).toEqual([]);
  });

  it('describes what the server sends', async () => {
    server.sandboxes.answer = () => ({ steps: [] });
    const id = await server.session();
    const rule = { scope: 'session', session: id, operation: 'files.*', pattern: '*' };
    await server.json('POST', '/api/rules', rule);
    const transport = { type: 'http', url: 'http://127.0.0.1:1/' };
    await server.json('POST', '/api/mcp', { name: 'none', transport });
    const said = newEvent('agent', 'say', { args: { text: 'Hi', calls: [] }, message: 'Hi' });
    await server.log.append(id, [said]);
    const queries: Record<string, string> = {
      '/api/search': '?q=Fix',
      '/api/sessions/:id/transcript': '?format=codex&cwd=/a',
    };
    const sent: string[] = [];
    for (const { method, path, response } of allRoutes) {
      if (
        method !== 'GET' ||
        !isSchema(response) ||
        /(agents|automations|evaluations|runs|actions|action-installs|comparisons|evidence)\/:/.test(
          path,
        )
      )
        continue;
      const query = queries[path] ?? `?session=${id}`;
      const found = await server.fetch(path.replace(':id', id) + query);
      const { error } = response.safeParse(await found.json());
      expect({ path, status: found.status, error }).toEqual({ path, status: 200 });
      sent.push(path);
    }
    expect(sent.length).toBeGreaterThan(12);
  });

  /** By the validator’s program, as Jest cannot load its ES module. */
  async function validate(value: object): Promise<unknown> {
    const file = join(server.data, 'openapi.json');
    await writeFile(file, JSON.stringify(value));
    const { stdout } = await promisify(execFile)(process.execPath, [validator, file]).catch(
      (refused: { stdout: string }) => refused,
    );
    return JSON.parse(stdout);
  }
});

const validator = join(
  require.resolve('@seriousme/openapi-schema-validator'),
  '../bin/validate-api-cli.js',
);
