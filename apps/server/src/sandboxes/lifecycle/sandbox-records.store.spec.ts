import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { until } from '@belay/testing';
import { FolderObjects } from '../../storage/folder-objects.js';
import { SandboxRecords, type SandboxRecord } from './sandbox-records.store.js';

let data: string;
let objects: FolderObjects;
let records: SandboxRecords;
beforeEach(async () => {
  data = await mkdtemp(join(tmpdir(), 'belay-records-'));
  objects = new FolderObjects(data);
  records = new SandboxRecords(objects);
});
afterEach(() => rm(data, { recursive: true }));

const record: SandboxRecord = { session: 's', sandbox: 'b', files: 'a', epoch: 2, begun: true };

it('keeps a record for each session until it is removed', async () => {
  await records.write(record);
  await records.write({ ...record, session: 'other' });
  expect(await records.find('s')).toEqual(record);
  await records.remove('s');
  expect(await records.find('s')).toBeUndefined();
  expect((await records.all()).map(({ session }) => session)).toEqual(['other']);
});

it('ignores a record that was cut off', async () => {
  await records.write(record);
  await writeFile(join(data, 'sandboxes/cut.json'), '{"session":');
  expect(await records.find('cut')).toBeUndefined();
  expect(await records.all()).toEqual([record]);
});

it('finds one while all are read', async () => {
  const sessions = Array.from({ length: 20 }, (_, at) => `session-${at}`);
  for (const session of sessions) await records.write({ ...record, session });
  const goesOn = Promise.withResolvers<void>();
  const open = objects.open.bind(objects);
  const opens = jest.spyOn(objects, 'open').mockImplementation(async (key) => {
    await goesOn.promise;
    return open(key);
  });
  const all = records.all();
  await until('all are read', () => opens.mock.calls.length > 0);
  opens.mockRestore();
  const found = records.find('session-0').finally(goesOn.resolve);
  expect(await found).toMatchObject({ session: 'session-0' });
  expect(await all).toHaveLength(20);
});

it('finds the files in records that still name their volumes', async () => {
  const { files, ...others } = record;
  const volumes = { workspace: `belay-${files}-workspace`, state: `belay-${files}-state` };
  await mkdir(join(data, 'sandboxes'));
  await writeFile(join(data, 'sandboxes/s.json'), JSON.stringify({ ...others, volumes }));
  expect(await records.find('s')).toEqual(record);
});
