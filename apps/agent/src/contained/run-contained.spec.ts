import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { runContained } from './run-contained.js';

describe('a program in a container', () => {
  it('does not begin once its stream is destroyed', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'belay-contained-'));
    const stream = new PassThrough();
    const closed = once(stream, 'close');
    stream.destroy();
    await closed;
    const begun = join(folder, 'begun');
    const ended = await runContained(
      {
        command: ['/bin/sh', '-c', `touch ${begun}`],
        folder,
        env: {},
        egress: false,
        services: {},
        output: null,
      },
      {
        stream,
        imageEnvironment: {},
        openOutside: () => Promise.reject(new Error('Nothing is opened.')),
        killRest: async () => 0,
      },
    );
    expect(ended).toEqual({ code: 137, left: 0 });
    expect(existsSync(begun)).toBe(false);
    rmSync(folder, { recursive: true });
  });
});
