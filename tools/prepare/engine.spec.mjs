import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { candidateHosts, Docker } from './docker-api.mjs';
import { isAlive } from './engine.mjs';

describe('a pid file of the engine', () => {
  let folder;
  beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'belay-engine-'))));
  afterEach(() => rmSync(folder, { recursive: true }));

  const pidFile = () => join(folder, 'docker.pid');
  function processOf(pid, stat) {
    writeFileSync(pidFile(), `${pid}\n`);
    mkdirSync(join(folder, String(pid)));
    writeFileSync(join(folder, String(pid), 'stat'), stat);
  }

  it('counts while its process runs', () => {
    processOf(70, '70 (dockerd) S 1 70 70 0 -1');
    expect(isAlive(pidFile(), 'dockerd', folder)).toBe(true);
  });

  it('does not count when the pid now belongs to another program', () => {
    processOf(70, '70 (my (odd) name) S 1 70 70 0 -1');
    expect(isAlive(pidFile(), 'dockerd', folder)).toBe(false);
  });

  it('does not count for a zombie, which a killed dockerd remains while it is not reaped', () => {
    processOf(70, '70 (dockerd) Z 1 70 70 0 -1');
    expect(isAlive(pidFile(), 'dockerd', folder)).toBe(false);
  });

  it('does not count without its process, empty, or missing', () => {
    writeFileSync(pidFile(), '71');
    expect(isAlive(pidFile(), 'dockerd', folder)).toBe(false);
    writeFileSync(pidFile(), '');
    expect(isAlive(pidFile(), 'dockerd', folder)).toBe(false);
    expect(isAlive(join(folder, 'none'), 'dockerd', folder)).toBe(false);
  });
});

describe('the places to look for an engine', () => {
  let home;
  beforeEach(() => (home = mkdtempSync(join(tmpdir(), 'belay-home-'))));
  afterEach(() => rmSync(home, { recursive: true }));

  it('are DOCKER_HOST alone when it is set', () => {
    expect(candidateHosts({ DOCKER_HOST: 'tcp://10.0.0.1:2375' }, home)).toEqual([
      'tcp://10.0.0.1:2375',
    ]);
  });

  it('are never another machine', () => {
    expect(() => new Docker('tcp://10.0.0.1:2375')).toThrow(
      /tcp:.* needs an engine on this machine/,
    );
  });

  it('are the usual sockets otherwise', () => {
    expect(candidateHosts({ XDG_RUNTIME_DIR: '/run/user/7' }, home).slice(0, 2)).toEqual([
      'unix:///var/run/docker.sock',
      'unix:///run/user/7/docker.sock',
    ]);
  });

  it('begin with the chosen context', () => {
    // The SHA-256 of the context’s name, as Docker’s CLI stores it.
    const meta = join(
      home,
      '.docker/contexts/meta/fe9c6bd7a66301f49ca9b6a70b217107cd1284598bfc254700c989b916da791e',
    );
    mkdirSync(meta, { recursive: true });
    writeFileSync(join(home, '.docker/config.json'), '{"currentContext":"desktop-linux"}');
    writeFileSync(
      join(meta, 'meta.json'),
      '{"Endpoints":{"docker":{"Host":"unix:///desktop.sock"}}}',
    );
    expect(candidateHosts({}, home)[0]).toBe('unix:///desktop.sock');
  });
});
