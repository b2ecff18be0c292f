import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Logger } from '@nestjs/common';
import { onEveryDatabase } from '../testing/databases.js';
import { TestLogs } from '../testing/logs.js';
import { TerminalPieces } from './terminal-pieces.js';
import { terminalPieceCases } from './testing/terminal-piece-cases.js';

onEveryDatabase('pieces of terminals', (databases) => {
  terminalPieceCases((logs) => logs.objects, databases);

  it('stay in the database while objects cannot be stored', async () => {
    const logs = await new TestLogs(databases).open();
    await logs.session('s');
    const pieces = new TerminalPieces(logs.database, logs.objects, logs.log);
    const warnings = jest.spyOn(Logger.prototype, 'warn').mockImplementation();
    const inTheWay = join(logs.config.data, 'terminals');
    writeFileSync(inTheWay, '');
    const kept = Buffer.alloc(2 ** 19, 'x');
    let offset = 0;
    const append = async () => {
      await pieces.begin({ session: 's', terminal: 'main' });
      await pieces.append({ session: 's', terminal: 'main', offset, kept, length: kept.length });
      offset += kept.length;
      await pieces.onApplicationShutdown();
    };
    for (let at = 0; at < 4; at += 1) await append();
    expect(warnings).toHaveBeenCalled();
    rmSync(inTheWay);
    for (let at = 0; at < 2; at += 1) await append();
    const rows = await logs.database.kysely.selectFrom('terminal_piece').selectAll().execute();
    expect(rows.filter(({ object }) => object !== null)).toMatchObject([
      { start: 0, kept: 5 * kept.length },
    ]);
    const all = await pieces.read({ session: 's', terminal: 'main' }, 0, 1e9);
    expect(all.equals(Buffer.alloc(offset, 'x'))).toBe(true);
    warnings.mockRestore();
    await logs.close();
  });
});
