import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Config } from '../config.js';
import { sharedFiles } from './shared-files.js';

describe('the files of two servers', () => {
  const folders = ['one', 'two'].map((name) => mkdtempSync(join(tmpdir(), `belay-${name}-`)));
  afterAll(() => folders.forEach((folder) => rmSync(folder, { recursive: true })));
  const [one, two] = folders;
  const key = Buffer.alloc(32).toString('base64');
  const bucket = { BELAY_STORAGE: 's3://belay/team', BELAY_SECRET_KEY: key };
  const filesIn = (folder: string | undefined, more: Record<string, string> = {}) =>
    sharedFiles(new Config({ BELAY_DATA: folder, ...more }));

  it('are the same in one folder, and in one bucket with one key', () => {
    expect(filesIn(one)).toBe(filesIn(one));
    expect(filesIn(one, bucket)).toBe(filesIn(two, bucket));
  });

  it.each<[string, Record<string, string>]>([
    ['another folder', { BELAY_STORAGE: '' }],
    ['a key in each folder', { BELAY_SECRET_KEY: '' }],
    ['another key', { BELAY_SECRET_KEY: Buffer.alloc(32, 1).toString('base64') }],
    ['another folder of the bucket', { BELAY_STORAGE: 's3://belay/other' }],
    ['another storage', { AWS_ENDPOINT_URL_S3: 'https://s3.example.com' }],
  ])('are not with %s', (_, more) => {
    expect(filesIn(one, bucket)).not.toBe(filesIn(two, { ...bucket, ...more }));
    expect(filesIn(one, { ...bucket, ...more })).not.toBe(filesIn(two, bucket));
  });
});
