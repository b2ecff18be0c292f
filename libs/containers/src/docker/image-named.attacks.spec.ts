import { PassThrough } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { extract, pack, type Headers } from 'tar-stream';
import { imageNamed } from './image-named.js';

type File = [header: Partial<Headers> & { name: string }, content: string];

const list = (...tags: (string[] | null)[]) =>
  JSON.stringify(
    tags.map((RepoTags) => ({ Config: 'c.json', RepoTags, Layers: ['one/layer.tar'] })),
  );
const honest: File[] = [
  [{ name: 'one/layer.tar' }, 'a layer'],
  [{ name: 'two/layer.tar', type: 'symlink', linkname: '../one/layer.tar' }, ''],
  [{ name: 'c.json' }, '{}'],
];

async function tarOf(files: File[]): Promise<PassThrough> {
  const tar = pack();
  for (const [header, content] of files) tar.entry(header, content);
  tar.finalize();
  return tar.pipe(new PassThrough());
}

async function named(files: File[]) {
  const { image, done } = imageNamed('mine:1', await tarOf(files));
  const found: Record<string, string> = {};
  const reading = extract();
  reading.on('entry', ({ name }, content, taken) => {
    void buffer(content).then((bytes) => {
      found[name] = bytes.toString();
      taken();
    });
  });
  const read = new Promise((ended) => reading.on('finish', ended).on('error', ended));
  image.on('error', () => reading.destroy()).pipe(reading);
  await done;
  await read;
  return found;
}

it('keeps an image, with the given name in place of its own', async () => {
  const files: File[] = [
    [{ name: 'repositories' }, '{"postgres":{"16":"one"}}'],
    [{ name: 'index.json' }, '{"manifests":[]}'],
    ...honest,
    [{ name: './manifest.json' }, list(['postgres:16', 'node:24'])],
  ];
  const found = await named(files);
  expect(Object.keys(found).toSorted()).toEqual([
    'c.json',
    'manifest.json',
    'one/layer.tar',
    'two/layer.tar',
  ]);
  expect(JSON.parse(found['manifest.json'] ?? '')).toEqual([
    { Config: 'c.json', RepoTags: ['mine:1'], Layers: ['one/layer.tar'] },
  ]);
  expect(found['one/layer.tar']).toBe('a layer');
});

const own: File = [{ name: 'manifest.json' }, list(null)];
it.each<[string, File[]]>([
  ['no list', []],
  ['two images', [[{ name: 'manifest.json' }, list(['a:1'], ['b:1'])]]],
  ['two lists', [own, own]],
  ['a list that is none', [[{ name: 'manifest.json' }, 'postgres:16']]],
  ['a list by a link', [[{ name: 'manifest.json', type: 'symlink', linkname: 'x' }, ''], own]],
  ['a list below a link', [own, [{ name: 'd', type: 'symlink', linkname: '.' }, '']]],
  ['a list elsewhere', [own, [{ name: 'd/manifest.json' }, list(['postgres:16'])]]],
  ['a hard link', [own, [{ name: 'x', type: 'link', linkname: 'manifest.json' }, '']]],
  ['a device', [own, [{ name: 'x', type: 'character-device' }, '']]],
])('attack: an archive with %s is none', async (_, files) => {
  await expect(named([...honest, ...files])).rejects.toMatchObject({ code: 'invalid_input' });
});

it('fails when the archive breaks off', async () => {
  const broken = new PassThrough();
  const { done } = imageNamed('mine:1', broken);
  broken.destroy(new Error('The connection is lost.'));
  await expect(done).rejects.toThrow('The connection is lost.');
});
