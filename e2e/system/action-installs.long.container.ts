import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isEvent } from '@belay/protocol';
import { eventually, until } from '@belay/testing';
import { belay, describeSystem, docker, repositoryRoot, run, script, start } from '@belay/testkit';
import { writeMcpCounter } from './write-mcp-counter.js';

describeSystem('actions', (server) => {
  const cli = (...args: string[]) => belay(server.data, ['actions', ...args]);
  const example = (name: string) => join(repositoryRoot, 'examples/actions', name);
  const filters = () => ({ label: [`belay.data=${server.data}`] });
  const images = async () => (await docker.listImages({ filters: filters() })).length;
  const hasImages = (count: number) => eventually(async () => expect(await images()).toBe(count));
  /** Waits until no container of this action is left. */
  const nothingLeftOf = (name: string) =>
    eventually(async () => {
      const left = await docker.listContainers({ all: true, filters: filters() });
      expect(left.filter(({ Labels }) => Labels['belay.action'] === name)).toEqual([]);
    });

  /** An action with this script as its set-up. */
  function withSetup(name: string, setup: string): string {
    const folder = join(server.data, 'sources', name);
    mkdirSync(folder, { recursive: true });
    const manifest = {
      name_for_human: name,
      name_for_model: name,
      description_for_human: 'Says what the set-up left.',
      description_for_model: 'Says what the set-up left.',
      examples: [{ input: {}, contains: 'left by the set-up' }],
    };
    writeFileSync(join(folder, 'manifest.json'), JSON.stringify(manifest));
    writeFileSync(join(folder, 'run'), '#!/bin/sh\ncat /action/made\n');
    writeFileSync(join(folder, 'setup'), `#!/bin/sh\n${setup}\n`);
    for (const file of ['run', 'setup']) chmodSync(join(folder, file), 0o755);
    return folder;
  }

  it('of the examples that need no network work, with their services, pictures and sounds', async () => {
    for (const name of ['morse', 'text-to-image', 'database-query', 'roll-dice'])
      expect(await cli('install', example(name))).toMatchObject({ code: 0 });
    const tested = await cli('test', '--all', '--json');
    const results = JSON.parse(tested.stdout) as { name: string; fault: string | null }[];
    expect(results.filter(({ fault }) => fault !== null)).toEqual([]);
    expect(results).toHaveLength(5);
  });

  it('are named when an unknown one is asked for', async () => {
    const missing = await cli('install', join(repositoryRoot, 'examples/actions'), 'rolldice');
    expect(missing).toMatchObject({ code: 2, stdout: '' });
    expect(missing.stderr).toMatch(/has no action rolldice; it has: .*roll_dice.*\.\n$/);
  });

  it('are set up once, in an image of their own, and leave nothing when they are removed', async () => {
    const before = await images();
    const folder = withSetup('made', 'echo "left by the set-up" > /action/made; id -u');
    const installed = await cli('install', folder);
    expect(installed).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('Installed made.'),
    });
    expect(installed.stderr).toContain('[made] > ./setup');
    expect(await cli('test', 'made')).toMatchObject({ code: 0 });
    expect(await images()).toBe(before + 1);
    expect(await cli('remove', 'made')).toMatchObject({ code: 0 });
    await hasImages(before);
  });

  it('may be skills, whose files the sandbox runs, and MCP servers, in containers of their own', async () => {
    const before = await images();
    const folder = join(server.data, 'sources/kinds');
    const put = (path: string, content: string, mode = 0o644) => {
      mkdirSync(join(folder, path, '..'), { recursive: true });
      writeFileSync(join(folder, path), content, { mode });
    };
    put('notes/SKILL.md', '---\nname: notes\ndescription: Takes notes.\n---\nRun take.sh.\n');
    put('notes/take.sh', '#!/bin/sh\necho "taken by $(id -u)"\n', 0o755);
    writeMcpCounter(join(folder, 'counter'));
    expect(await cli('install', folder)).toMatchObject({
      code: 0,
      stderr: expect.stringContaining('[counter] Its tools: look.'),
    });
    expect(await images()).toBe(before + 1);
    const placed = '/var/lib/belay/skills/notes/take.sh';
    const model = script(server.data, [
      { calls: [{ operation: 'action.notes', input: {} }] },
      { expect: 'Run take.sh', calls: [run(`${placed}; echo x > ${placed}; cat ${placed}`)] },
      {
        expect: 'taken by 1000.*(denied|Read-only).*#!/bin/sh',
        calls: [{ operation: 'mcp.counter.look', input: {} }],
      },
      { expect: 'seen as 1000, of /action', finish: 'done' },
    ]);
    const session = await start(server, { task: 'Use them', model, approvals: 'auto' });
    await session.finished();
    const results = session.events.filter((event) => isEvent(event, 'result'));
    expect(results.map(({ args }) => [args.operation, args.ok])).toEqual([
      ['action.notes', true],
      ['terminal.run', true],
      ['mcp.counter.look', true],
      ['finish', true],
    ]);
    const path = `/api/sessions/${session.id}/operations/mcp.counter.look`;
    const response = await fetch(new URL(path, server.url), {
      method: 'POST',
      headers: { authorization: `Bearer ${server.token}`, 'content-type': 'application/json' },
      body: '{}',
    });
    expect(await response.json()).toEqual({ text: 'seen as 1000, of /action' });
    session.close();
    for (const name of ['notes', 'counter'])
      expect(await cli('remove', name)).toMatchObject({ code: 0 });
    await hasImages(before);
    await nothingLeftOf('counter');
  });

  it('fail to install with a readable log, and then leave nothing', async () => {
    const before = await images();
    const attack = [
      'cat /proc/1/environ /run/belay/* 2>/dev/null | grep -a TOKEN && echo FOUND A TOKEN',
      'ls /var/run/docker.sock 2>/dev/null && echo FOUND THE ENGINE',
      'curl -sS --max-time 5 http://127.0.0.1:4600/ >/dev/null 2>&1 && echo FOUND THE SERVER',
      'mount -t tmpfs none /mnt 2>/dev/null && echo MOUNTED',
      'echo "E: there is no such package"; exit 100',
    ].join('\n');
    const failed = await cli('install', withSetup('hostile', attack));
    expect(failed).toMatchObject({
      code: 1,
      stdout: expect.stringContaining('The setup ended with code 100. Its log says why.'),
    });
    expect(failed.stderr).toContain('[hostile] E: there is no such package');
    expect(failed.stderr).not.toMatch(/FOUND|MOUNTED/);
    await hasImages(before);
    await nothingLeftOf('hostile');
  });

  it('that a killed server was installing or running leave nothing behind once it is back', async () => {
    const own = `belay.data=${server.data}`;
    const ofActions = async () => {
      const labelled = { all: true, filters: { label: [own, 'belay.action'] } };
      return (await docker.listContainers(labelled)).filter(({ State }) => State === 'running');
    };
    const owned = async () => {
      const filters = JSON.stringify({ label: [own] });
      const { Volumes } = await docker.listVolumes({ filters: filters as never });
      const networks = await docker.listNetworks({ filters });
      const labelled = { all: true, filters: { label: [own, 'belay.action'] } };
      return {
        containers: (await docker.listContainers(labelled)).length,
        // Volumes of sessions are not counted.
        volumes: (Volumes ?? []).filter(({ Labels }) => !Labels['belay.sandbox']).length,
        networks: networks.length,
        images: await images(),
      };
    };
    expect(await cli('install', example('roll-dice'))).toMatchObject({ code: 0 });
    const slow = withSetup('slow', 'true > /action/made');
    writeFileSync(join(slow, 'run'), '#!/bin/sh\nsleep 600\n');
    expect(await cli('install', slow)).toMatchObject({ code: 0 });
    await eventually(async () => expect((await owned()).containers).toBe(0));
    const before = await owned();

    const installing = cli('install', withSetup('endless', 'sleep 600'));
    const calling = server.client.actionCalls.call('slow', {}).catch((error: unknown) => error);
    await until('install and call to run', async () => (await ofActions()).length === 2);
    await server.end('SIGKILL');
    await Promise.all([installing, calling]);
    await server.start();
    await eventually(async () => expect(await owned()).toEqual(before));
    // Control: installed actions still work.
    expect(await cli('test', 'roll_dice')).toMatchObject({ code: 0 });
    expect(await cli('remove', 'slow')).toMatchObject({ code: 0 });
    await hasImages(before.images - 1);
  });
});
