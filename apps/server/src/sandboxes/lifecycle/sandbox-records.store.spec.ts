import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FolderObjects } from '../../storage/folder-objects.js';
import { SandboxRecords, type SandboxRecord } from './sandbox-records.store.js';

let data: string;
let records: SandboxRecords;
beforeEach(async () => {
  data = await mkdtemp(join(tmpdir(), 'belay-records-'));
  records = new SandboxRecords(new FolderObjects(data));
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

it('finds the files in records that still name their volumes', async () => {
  const { files, ...others } = record;
  const volumes = { workspace: `belay-${files}-workspace`, state: `belay-${files}-state` };
  await mkdir(join(data, 'sandboxes'));
  await writeFile(join(data, 'sandboxes/s.json'), JSON.stringify({ ...others, volumes }));
  expect(await records.find('s')).toEqual(record);
});
