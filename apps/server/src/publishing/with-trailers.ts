import { AppError } from '@belay/protocol';
import type { PrivateRepository } from '@belay/host';

/** A commit’s message with these trailers, and with no others of their names, wherever it has such lines. */
export async function withTrailers(
  repository: PrivateRepository,
  {
    message,
    trailers,
    signal,
  }: { message: string; trailers: Record<string, string>; signal: AbortSignal },
): Promise<string> {
  const names = Object.keys(trailers).map((name) => name.toLowerCase());
  const isOther = (line: string): boolean =>
    !names.includes(line.split(':', 1)[0]?.trim().toLowerCase() ?? '');
  const own = Object.entries(trailers).flatMap((one) => ['--trailer', one.join(': ')]);
  const { code, output } = await repository.run(['interpret-trailers', '--no-divider', ...own], {
    input: Buffer.from(`${message.split('\n').filter(isOther).join('\n').trim()}\n`),
    signal,
  });
  if (code !== 0) throw new AppError('internal', 'Git could not add lines to the message.');
  return output.toString().trimEnd();
}
