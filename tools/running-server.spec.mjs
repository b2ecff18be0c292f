import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { usualDataFolder, runningServer } from './running-server.mjs';

describe('the server that runs already', () => {
  let folder;
  let server;
  let url;
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'belay-running-'));
    server = createServer(({ headers }, response) => {
      response.statusCode = headers.authorization === 'Bearer good' ? 200 : 401;
      response.end(JSON.stringify({ code: 'once' }));
    });
    await new Promise((done) => server.listen(0, '127.0.0.1', done));
    url = `http://127.0.0.1:${server.address().port}`;
  });
  afterEach(async () => {
    rmSync(folder, { recursive: true });
    await new Promise((done) => server.close(done));
  });
  const known = (file) => writeFileSync(join(folder, 'server.json'), JSON.stringify(file));

  it('is found by the file beside its data', async () => {
    known({ url, token: 'good' });
    expect(await runningServer(folder)).toBe(`${url}/?code=once`);
  });

  it('is neither one with another data folder, nor one that has ended', async () => {
    expect(await runningServer(folder)).toBeUndefined();
    known({ url, token: 'of another' });
    expect(await runningServer(folder)).toBeUndefined();
    known({ url: 'http://127.0.0.1:9', token: 'good' });
    expect(await runningServer(folder)).toBeUndefined();
  });

  it('has the data folder of the environment', () => {
    expect(usualDataFolder({ BELAY_DATA: '/d', XDG_DATA_HOME: '/x' })).toBe('/d');
    expect(usualDataFolder({ XDG_DATA_HOME: '/x' })).toBe('/x/belay');
    expect(usualDataFolder({})).toMatch(/\/\.local\/share\/belay$/);
  });
});
