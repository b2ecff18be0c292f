import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '@belay/testing';
import { wakeBrowser } from './wake-browser.js';

describe('a browser that waits beside a container', () => {
  const folder = mkdtempSync(join(tmpdir(), 'belay-'));
  const pipe = join(folder, 'start');
  const running: ChildProcess[] = [];
  afterAll(() => {
    for (const one of running) one.kill();
    rmSync(folder, { recursive: true });
  });

  it('starts once when it is asked for, and not before', async () => {
    execFileSync('mkfifo', ['-m', '600', pipe]);
    // Ends without the line; then counts how often it was started.
    const reads = spawn('/bin/sh', ['-c', `read -r line <${pipe} && echo "$line"`]);
    running.push(reads);
    const server = createServer((socket) => socket.end());
    const address = `http://127.0.0.1:${await freePort()}`;
    const asked: string[] = [];
    reads.stdout.on('data', (data: Buffer) => {
      asked.push(String(data));
      server.listen(Number(new URL(address).port), '127.0.0.1');
    });
    await wakeBrowser(pipe, address);
    await wakeBrowser(pipe, address);
    expect(asked).toEqual(['start\n']);
    server.close();
  });

  it('attack: is only started through a pipe', async () => {
    const address = `http://127.0.0.1:${await freePort()}`;
    await expect(wakeBrowser(folder, address)).rejects.toThrow(/EISDIR/);
  });
});
