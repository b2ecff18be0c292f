import { mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { staysTrue, until } from '@belay/testing';
import { onOrphaned } from './on-orphaned.js';

describe('an agent that nobody keeps', () => {
  let folder: string;
  let record: string;
  let leave: () => void;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'belay-orphaned-'));
    record = join(folder, 'agent.json');
    writeFileSync(record, '{}');
    leave = () => undefined;
  });
  afterEach(() => {
    leave();
    rmSync(folder, { recursive: true });
  });
  const looks = { intervalMs: 20, most: 5 };
  const keep = () => {
    const timer = setInterval(() => utimesSync(record, new Date(), new Date()), 5);
    leave = () => clearInterval(timer);
  };

  it('ends when its record is no longer touched and the server is not there', async () => {
    let ended = 0;
    keep();
    onOrphaned({ record, isConnected: () => false, looks }, () => (ended += 1));
    await staysTrue('it is kept', 400, () => ended === 0);
    leave();
    await until('it ends', () => ended > 0);
    await staysTrue('it ends once', 200, () => ended === 1);
  });

  it('goes on while the server is there, with a record or without', async () => {
    let ended = 0;
    let connected = true;
    rmSync(record);
    onOrphaned({ record, isConnected: () => connected, looks }, () => (ended += 1));
    await staysTrue('it is connected', 400, () => ended === 0);
    connected = false;
    await until('it ends', () => ended > 0);
  });
});
