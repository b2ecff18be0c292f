import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { until } from '@belay/testing';
import { openDashboard } from './open.js';

describe('attacks: what others see of `belay open`', () => {
  const token = 'the-token-of-the-server';
  let folder: string;
  let server: Server;
  const before = { ...process.env };

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'belay-open-'));
    server = createServer(({ headers, url, method }, response) => {
      const isKnown = headers.authorization === `Bearer ${token}`;
      const isCode = method === 'POST' && url === '/api/login-codes';
      response.writeHead(isKnown && isCode ? 201 : 401, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ code: 'once' }));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    writeFileSync(join(folder, 'server.json'), JSON.stringify({ url, token }));
    // Writes down what a list of processes shows of it.
    const opener = join(folder, 'xdg-open');
    writeFileSync(
      opener,
      `#!/bin/sh\ntr '\\0' ' ' </proc/$$/cmdline >${folder}/seen.tmp\nmv ${folder}/seen.tmp ${folder}/seen\n`,
    );
    chmodSync(opener, 0o755);
    process.env.PATH = `${folder}:${before.PATH}`;
    process.env.DISPLAY = ':0';
    delete process.env.CI;
    delete process.env.BELAY_URL;
    delete process.env.BELAY_TOKEN;
  });
  afterEach(async () => {
    process.env = before;
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    rmSync(folder, { recursive: true });
  });

  it('is a code for one login, and never the token', async () => {
    const write = jest.spyOn(process.stdout, 'write').mockReturnValue(true);
    try {
      await openDashboard(undefined, { data: folder });
      expect(write.mock.calls.join()).toContain('/?code=once');
      expect(write.mock.calls.join()).not.toContain(token);
    } finally {
      write.mockRestore();
    }
    const seen = await until('the browser', () => {
      try {
        return readFileSync(join(folder, 'seen'), 'utf8');
      } catch {
        return undefined;
      }
    });
    expect(seen).toMatch(/http:\/\/127\.0\.0\.1:\d+\/\?code=once/);
    expect(seen).not.toContain(token);
  });
});
