import { client } from '@/lib/server';

/** In pixels, of the longer side. Models see no more than this, and some refuse larger pictures. */
const longest = 1_568;
const largest = 4_000_000;
/** Types that every provider accepts. */
const types = new Set(['image/png', 'image/jpeg', 'image/webp', 'image/gif']);

/** Uploads a picture; returns the id of its blob, or null if the file is not a picture. */
export async function uploadPicture(file: File): Promise<string | null> {
  const picture = await pictureFor(file);
  if (!picture) return null;
  const bytes = new Uint8Array(await picture.arrayBuffer());
  return (await client.uploads.blob(bytes, picture.type)).blob;
}

/** A picture that models accept, scaled down if needed; null if the file is not a picture. */
async function pictureFor(file: File): Promise<Blob | null> {
  if (!file.type.startsWith('image/')) return null;
  const bitmap = await createImageBitmap(file).catch(() => null);
  if (!bitmap) return null;
  const scale = Math.min(1, longest / Math.max(bitmap.width, bitmap.height));
  if (scale === 1 && types.has(file.type) && file.size <= largest) return file;
  const side = (pixels: number) => Math.max(1, Math.round(pixels * scale));
  const canvas = new OffscreenCanvas(side(bitmap.width), side(bitmap.height));
  const context = canvas.getContext('2d');
  if (!context) return null;
  // JPEG has no transparency.
  context.fillStyle = 'white';
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.drawImage(bitmap, 0, 0, canvas.width, canvas.height);
  return canvas.convertToBlob({ type: 'image/jpeg', quality: 0.9 });
}
