import { buffer } from 'node:stream/consumers';
import { pack } from 'tar-stream';
import { until } from '@belay/testing';

import { HostProgram, programSpec } from './host-program.js';
import type { Further, HostTests } from './host-tests.js';
import { newId } from './host-user.js';

/** Programs of others in containers, run by the real starter. */
export function describePrograms(tests: HostTests, further: Further): void {
  describe('their runs', () => describeRuns(tests));
  describe('what they write', () => describeWrites(tests, further));
}

/** In an image that knows nothing of Belay. */
const starts =
  (tests: HostTests) =>
  (more: Parameters<typeof programSpec>[1] = {}): Promise<HostProgram> =>
    HostProgram.start(tests.user, programSpec(tests.images.other, more));

function describeRuns(tests: HostTests): void {
  const start = starts(tests);

  it('runs one after the other, with input, output, errors and exit codes of their own', async () => {
    const program = await start();
    const first = await program.run('read word; echo "$word $SECRET"; echo oh >&2; exit 3', {
      input: 'hello\n',
      env: { SECRET: 'x' },
    });
    expect(first).toMatchObject({ code: 3, left: 0, out: 'hello x\n', errors: 'oh\n' });
    expect(await program.run('echo "$SECRET."')).toMatchObject({ code: 0, out: '.\n' });
    expect(await program.run('', { command: ['/no/such/program'] })).toMatchObject({ code: 127 });
    await tests.user.host.remove(program.id);
    await tests.user.sees(program.id, 'gone');
  });

  it('gives them no rights, and neither their starter nor what it was told', async () => {
    const readOnly = { path: '/ro', mb: 1, readOnly: true };
    const program = await start({ scratch: [{ path: '/tmp', mb: 16 }, readOnly] });
    const { out } = await program.run(`
      id -u; id -g; grep -E '^(CapEff|NoNewPrivs)' /proc/self/status
      for path in /etc/new /opt/belay/new /run/belay/new /ro/new; do
        (echo > $path) 2>/dev/null && echo "wrote $path"
      done
      for one in /proc/[0-9]*; do
        [ "$(stat -c %u $one 2>/dev/null)" = 0 ] || continue
        pid=\${one#/proc/}
        kill -9 $pid 2>/dev/null && echo "killed $pid"
        cat $one/environ 2>/dev/null | grep -a BELAY && echo "read $pid"
      done
      env | grep BELAY; touch /tmp/new && echo honest`);
    expect(out).toBe('1000\n1000\nCapEff:\t0000000000000000\nNoNewPrivs:\t1\nhonest\n');
    await tests.user.host.remove(program.id);
  });

  it('sends the files that they leave, ends what they leave running, and opens connections', async () => {
    const output = { path: '/output', mb: 1 };
    const program = await start({ scratch: [{ path: '/tmp', mb: 16 }, output] });
    const ended = await program.run(
      `echo made > /output/file; ln -s /etc/passwd /output/link; (setsid sleep 1000 &); echo "$HTTP_PROXY"`,
      { output: '/output', egress: true },
    );
    expect(ended).toMatchObject({ code: 0, left: 0 });
    expect(ended.out).toMatch(/^http:\/\/127\.0\.0\.1:\d+\n$/);
    expect(await Promise.all(program.files)).toEqual(['{"name":"file","bytes":5}\nmade\n']);
    const again = await program.run('ls /output | wc -l; ps 2>/dev/null | grep -c "[s]leep 1000"');
    expect(again.out.startsWith('0\n')).toBe(true);
    await tests.user.host.remove(program.id);
  });

  it('puts services on their loopback, and removes them with the program', async () => {
    const limits = { memoryMb: 64, cpus: 1 };
    const service = {
      name: 'db',
      image: tests.images.other,
      command: ['/bin/sh', '-c', 'echo $WORD > /written; sleep 1000'],
      env: { WORD: 'x' },
      limits,
    };
    const program = await start({ services: [service] });
    const { out } = await program.run('grep -c "127.0.0.1.db$" /etc/hosts');
    expect(out).toBe('1\n');
    await tests.user.host.remove(program.id);
    await tests.user.sees(program.id, 'gone');
  });
}

function describeWrites(tests: HostTests, further: Further): void {
  const start = starts(tests);

  it('ends a container that writes too much, and says so', async () => {
    const program = await start({ rights: 'build', user: 0, writtenMb: 8 });
    const full = program.run('head -c 32000000 /dev/zero > /full; sleep 1000');
    full.catch(() => {});
    const look = () => tests.user.host.look(program.id);
    await until('it has ended', async () => (await look()).state !== 'running', {
      timeoutMs: 120_000,
    });
    const { why, cause } = await look();
    expect([why, cause]).toEqual(['It wrote more than 8 MiB.', 'written']);
    await tests.user.host.remove(program.id);
  });

  further('makes an image of what a build has written', async () => {
    const { host } = tests.user;
    if (!host.can.images) return expect(await host.images.made()).toEqual([]);
    const archive = pack();
    archive.entry({ name: 'action/run', mode: 0o755 }, '#!/bin/sh\necho ran');
    archive.finalize();
    const build = programSpec(tests.images.other, {
      rights: 'build',
      user: 0,
      archive: await buffer(archive),
    });
    const program = await HostProgram.start(tests.user, build);
    const set = await program.run('chown 1000 /action/run && cp /action/run /usr/local/bin/ran');
    expect(set).toMatchObject({ code: 0, errors: '' });
    await program.end();
    await until('it has ended', async () => (await host.look(build.id)).state === 'ended');
    const name = `belay-test-${newId()}:1`;
    const image = await host.images.make(build.id, {
      name,
      entrypoint: ['/usr/bin/env'],
      user: '1000:1000',
    });
    await host.remove(build.id);
    expect(await host.images.madeAs(name)).toBe(image);
    expect(await host.images.made()).toContain(image);
    const made = await HostProgram.start(tests.user, programSpec(image));
    expect(await made.run('ran; /action/run')).toMatchObject({ out: 'ran\nran\n' });
    await host.remove(made.id);
    await host.images.remove(image);
    expect(await host.images.madeAs(name)).toBeUndefined();
  });
}
