import { chmodSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { allows, isExecutable, isThere, R_OK, W_OK, X_OK } from './permissions.js';

const folder = mkdtempSync(join(tmpdir(), 'belay-permissions-'));
afterAll(() => rmSync(folder, { recursive: true }));

it('reads the bits of the owner, of the group and of others, whichever comes first', () => {
  const file = join(folder, 'file');
  writeFileSync(file, '');
  const judge = (mode: number, ids: { uid?: number; gid?: number } = {}) => {
    chmodSync(file, mode);
    const stats = Object.assign(statSync(file), { uid: 1000, gid: 1000, ...ids });
    return [R_OK, W_OK, X_OK].map((wanted) => allows(stats, wanted));
  };
  const spies = [
    jest.spyOn(process, 'geteuid').mockReturnValue(1000),
    jest.spyOn(process, 'getegid').mockReturnValue(1000),
    jest.spyOn(process, 'getgroups').mockReturnValue([7]),
  ];
  try {
    expect(judge(0o644)).toEqual([true, true, false]);
    expect(judge(0o077)).toEqual([false, false, false]);
    expect(judge(0o457, { uid: 5 })).toEqual([true, false, true]);
    expect(judge(0o724, { uid: 5, gid: 7 })).toEqual([false, true, false]);
    expect(judge(0o771, { uid: 5, gid: 5 })).toEqual([false, false, true]);
    jest.mocked(process.geteuid!).mockReturnValue(0);
    expect(judge(0o000)).toEqual([true, true, false]);
    expect(judge(0o001)).toEqual([true, true, true]);
  } finally {
    for (const spy of spies) spy.mockRestore();
  }
});

it('knows what is there, and what can be executed', () => {
  const file = join(folder, 'program');
  writeFileSync(file, '');
  chmodSync(file, 0o644);
  expect([isThere(file), isExecutable(file)]).toEqual([true, false]);
  chmodSync(file, 0o755);
  expect([isExecutable(file), isExecutable(folder), isThere(join(file, 'x'))]).toEqual([
    true,
    false,
    false,
  ]);
});
