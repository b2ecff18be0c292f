/** Pixels of the longer side: models are shown no more of a picture, and some refuse a larger one. */
const longest = 1_568;
const largest = 4_000_000;
/** Those that every provider takes. */
const types = new Set(['image/png', 'image/jpeg', 'image/webp', 'image/gif']);

/** A picture as models take it: itself, or a smaller one. Null for what is none. */
export async function pictureFor(file: File): Promise<Blob | null> {
  if (!file.type.startsWith('image/')) return null;
  const bitmap = await createImageBitmap(file).catch(() => null);
  if (!bitmap) return null;
  const scale = Math.min(1, longest / Math.max(bitmap.width, bitmap.height));
  if (scale === 1 && types.has(file.type) && file.size <= largest) return file;
  const side = (pixels: number) => Math.max(1, Math.round(pixels * scale));
  const canvas = new OffscreenCanvas(side(bitmap.width), side(bitmap.height));
  const context = canvas.getContext('2d');
  if (!context) return null;
  // A JPEG knows nothing transparent.
  context.fillStyle = 'white';
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.drawImage(bitmap, 0, 0, canvas.width, canvas.height);
  return canvas.convertToBlob({ type: 'image/jpeg', quality: 0.9 });
}
