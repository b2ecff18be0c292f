import { posix } from 'node:path';
import { PassThrough, type Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { AppError } from '@belay/protocol';
import { extract, pack, type Headers } from 'tar-stream';
import { z } from 'zod';

const manifest = z.tuple([
  z.looseObject({ Config: z.string(), Layers: z.array(z.string()).max(1_000) }),
]);
const manifestName = 'manifest.json';
/** Files that name images in other forms of an archive; engines need none of them. */
const otherNames: ReadonlySet<string> = new Set(['index.json', 'oci-layout', 'repositories']);
const maxManifestBytes = 2 ** 20;

/**
 * The archive of one image, as `docker save` makes it, with the name `tag` in place of its own: an archive from another
 * machine could otherwise replace any image of the engine. It is rewritten while it is read. `done` rejects with
 * `invalid_input` for an archive of another form, whose `image` then breaks off.
 */
export function imageNamed(
  tag: string,
  archive: Readable,
): { image: Readable; done: Promise<void> } {
  const named = pack();
  const reading = extract();
  let hasManifest = false;
  const take = async (header: Headers, content: Readable): Promise<void> => {
    const name = checkedName(header);
    if (name === manifestName) {
      if (hasManifest) throw noImage('it has two lists of images');
      hasManifest = true;
      const text = JSON.stringify([{ ...(await manifestIn(header, content)), RepoTags: [tag] }]);
      named.entry({ name, mode: 0o644 }, text);
    } else if (otherNames.has(name)) content.resume();
    else await pipeline(content, named.entry(header));
  };
  reading.on('entry', (header, content, taken) => {
    take(header, content as unknown as Readable).then(() => taken(), taken);
  });
  const read = pipeline(archive, reading).then(() => {
    if (!hasManifest) throw noImage('it has no list of images');
    named.finalize();
  });
  const image = new PassThrough();
  read.catch((error: Error) => named.destroy(error));
  const done = Promise.all([read, pipeline(named as unknown as Readable, image)]).then(() => {});
  return { image, done };
}

/**
 * Without parts that could stand for another file: links only lead to layers, as engines save a layer that is in the
 * image twice, and what names images is at the top.
 */
function checkedName({ name, type, linkname }: Headers): string {
  const path = posix.normalize(name).replace(/^\.\/|\/$/g, '');
  const base = posix.basename(path);
  const isName = base === manifestName || otherNames.has(base);
  const isLayer = type === 'symlink' && base === 'layer.tar' && linkname?.endsWith('/layer.tar');
  if (type !== 'file' && type !== 'directory' && !isLayer) throw noImage(`${path} is not a file`);
  if (isName && (path !== base || type !== 'file'))
    throw noImage(`${path} is not a list of images`);
  return path;
}

async function manifestIn({ size = 0 }: Headers, content: Readable) {
  if (size > maxManifestBytes) throw noImage('its list of images is too long');
  try {
    const [only] = manifest.parse(JSON.parse((await buffer(content)).toString()));
    return only;
  } catch {
    throw noImage('its list does not have one image');
  }
}

const noImage = (why: string): AppError =>
  new AppError('invalid_input', `This is not an archive of an image: ${why}.`);
