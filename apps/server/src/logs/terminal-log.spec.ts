import { mkdtemp, readFile, rm, stat, truncate } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Config } from '../config.js';
import { TerminalFiles } from './terminal-files.js';
import { TerminalLog } from './terminal-log.js';
import { terminalLogCases } from './testing/terminal-log-cases.js';

describe('the log of a terminal, in files', () => {
  const opened: TerminalFiles[] = [];
  const open = (config: Config) => {
    const files = new TerminalFiles(config);
    opened.push(files);
    return files;
  };
  afterEach(async () => {
    for (const files of opened.splice(0)) await files.onApplicationShutdown();
  });

  terminalLogCases((logs) => open(logs.config));

  describe('each of the bytes of its terminal', () => {
    let folder: string;
    let log: TerminalLog;
    const bytes = (text: string) => Buffer.from(text);
    const start = () => {
      const config = new Config({ BELAY_DATA: folder });
      log = new TerminalLog(config, open(config));
    };
    beforeEach(async () => {
      folder = await mkdtemp(join(tmpdir(), 'belay-terminal-'));
      start();
    });
    afterEach(() => rm(folder, { recursive: true, force: true }));
    const path = (...parts: string[]) => join(folder, 'terminals', ...parts);

    it('continues where a killed process stopped, even in the middle of a write', async () => {
      await log.append('s', 'main', 0, bytes('abcdef'));
      await truncate(path('s/main'), 4);
      start();
      expect(await log.size('s', 'main')).toBe(4);
      await log.append('s', 'main', 4, bytes('ef'));
      expect((await log.read('s', 'main', 0, 100)).toString()).toBe('abcdef');
    });

    it('is as long as another server that writes it has made it', async () => {
      const writer = log;
      await writer.append('s', 'main', 0, bytes('first'));
      start();
      expect(await log.list('s')).toEqual([{ terminal: 'main', size: 5 }]);
      await writer.append('s', 'main', 5, bytes(' and later'));
      expect(await log.list('s')).toEqual([{ terminal: 'main', size: 15 }]);
      expect((await log.read('s', 'main', 0, 100)).toString()).toBe('first and later');
    });

    it('has a hole where output is not kept, and goes with its session', async () => {
      await log.append('s', 'main', 0, bytes('kept '));
      await log.show('s', 'main', 5, bytes('secret'));
      expect(await readFile(path('s/main'), 'utf8')).toBe(`kept ${'\0'.repeat(6)}`);
      await log.remove('s');
      await expect(stat(path('s'))).rejects.toMatchObject({ code: 'ENOENT' });
    });

    it('keeps many terminals with few open files', async () => {
      const names = Array.from({ length: 300 }, (_, n) => `t${n}`);
      for (const round of [0, 1]) {
        await Promise.all(
          names.map((name) => log.append('s', name, round * 2, bytes(`${round}\n`))),
        );
      }
      for (const name of names) {
        expect((await log.read('s', name, 0, 10)).toString()).toBe('0\n1\n');
      }
    });
  });
});
