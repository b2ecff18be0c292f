import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { filesBench, type FilesBench } from './testing/files-bench.js';
import { pictureOf } from './read-picture.js';

const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAMAAAACCAIAAAASFvFNAAAAEElEQVR4nGP4z8AAQQxwFgBB0gX7h/C5SAAAAABJRU5ErkJggg==',
  'base64',
);
const kinds = {
  png: [png, 'image/png', 3, 2],
  gif: ['R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7', 'image/gif', 1, 1],
  jpeg: [Buffer.from('ffd8ffe000040000ffffc0001108000200030301', 'hex'), 'image/jpeg', 3, 2],
  webp: ['UklGRiIAAABXRUJQVlA4IBYAAAAwAQCdASoBAAEADsD+JaQAA3AAAAAA', 'image/webp', 1, 1],
  lossless: ['UklGRhoAAABXRUJQVlA4TA0AAAAvAAAAEAcQERGIiP4HAA==', 'image/webp', 1, 1],
  extended: [
    'UklGRkoAAABXRUJQVlA4WAoAAAAQAAAAAAAAAAAAQUxQSAwAAAARBxAR/Q9ERP8DAABWUDggGAAAABQBAJ0BKgEAAQAAAP4AAA3AAP7mtQAAAA==',
    'image/webp',
    1,
    1,
  ],
} as const;
const bytesOf = (bytes: string | Buffer) => Buffer.from(bytes as string, 'base64');

describe('a picture', () => {
  let bench: FilesBench;
  beforeEach(() => {
    bench = filesBench();
  });
  afterEach(() => bench.remove());
  const put = (name: string, bytes: Buffer) => writeFileSync(join(bench.root, name), bytes);
  const read = (path: string, more: object = {}) => bench.call('files.read', { path, ...more });

  it.each(Object.values(kinds))('is known by its bytes: %s', (bytes, type, width, height) => {
    const picture = typeof bytes === 'string' ? bytesOf(bytes) : bytes;
    expect(pictureOf(picture)).toEqual({ type, width, height });
    for (let size = 0; size < picture.length; size++) {
      const broken = pictureOf(picture.subarray(0, size));
      if (broken !== null) expect(broken).toEqual({ type, width, height });
    }
  });

  it('is shown to the model, with its kind and size in words', async () => {
    put('design.bin', png);
    expect(await read('design.bin')).toMatchObject({
      content: '[A picture, image/png, 3 × 2 pixels]',
      image: 'blob-1',
      size: png.length,
      lines: 0,
    });
    expect(bench.pictures).toEqual([{ type: 'image/png', size: png.length }]);
    const bytes = await read('design.bin', { encoding: 'base64' });
    expect(bytes).not.toHaveProperty('image');
    expect(bytes.content).toBe(png.toString('base64'));
  });

  it('of the user is bytes, as every binary file', async () => {
    put('design.png', png);
    bench.source = 'user';
    await expect(read('design.png')).rejects.toMatchObject({ code: 'invalid_input' });
    expect(bench.pictures).toEqual([]);
  });

  it('is refused with what to do when no model takes it', async () => {
    const wide = Buffer.from(png);
    wide.writeUInt32BE(20_000, 16);
    put('wide.png', wide);
    await expect(read('wide.png')).rejects.toMatchObject({
      code: 'too_large',
      message: expect.stringMatching(/20000 × 2 pixels.*Make a smaller copy/),
    });
    put('heavy.png', Buffer.concat([png, Buffer.alloc(4_000_000)]));
    await expect(read('heavy.png')).rejects.toMatchObject({ code: 'too_large' });
    put('broken.png', png.subarray(0, 20));
    await expect(read('broken.png')).rejects.toMatchObject({ code: 'invalid_input' });
    expect(bench.pictures).toEqual([]);
  });
});
