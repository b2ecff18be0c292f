import { AppError } from '@belay/protocol';
import type { PrivateRepository } from '@belay/host';

/** The lines that a change adds, of binary files as well; null if the change is larger than the limit. */
export async function addedText(
  repository: PrivateRepository,
  {
    from,
    to,
    maxBytes,
    signal,
  }: { from: string; to: string; maxBytes: number; signal: AbortSignal },
): Promise<string | null> {
  const options = ['-U0', '--text', '--no-color', '--no-renames', '--no-ext-diff', '--no-textconv'];
  try {
    const { code, output } = await repository.run(['diff-tree', '-r', '-p', ...options, from, to], {
      maxBytes,
      signal,
    });
    if (code !== 0) throw new AppError('internal', 'Git could not list the change.');
    return output
      .toString()
      .split('\n')
      .filter((line) => line.startsWith('+'))
      .map((line) => line.slice(1))
      .join('\n');
  } catch (error) {
    if (error instanceof AppError && error.code === 'too_large') return null;
    throw error;
  }
}
