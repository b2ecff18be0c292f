import { once } from 'node:events';
import { clientFor, findSession, type Where } from '../connection.js';
import { outputTo } from '../output.js';
import { checkedFile, writeResult } from '../result-file.js';
import { applyPatch } from '../workspace/apply-patch.js';
import { appliedSentence } from '../workspace/outward-links.js';
import { checkedFolder } from '../workspace/plan-workspace.js';

/** `belay patch`: writes the changes of a session to a file or to standard output, or applies them to a folder. */
export async function writePatch(
  name: string,
  options: Where & { output?: string; apply?: string },
): Promise<void> {
  if (options.output) await checkedFile(options.output);
  const folder = options.apply === undefined ? undefined : await checkedFolder(options.apply);
  const client = clientFor(options);
  const { id } = await findSession(client, name);
  const patch = await client.sessions.patch(id);
  if (options.output) await writeResult(options.output, patch);
  if (folder !== undefined) {
    const outcome =
      patch.length > 0
        ? appliedSentence(folder, await applyPatch(folder, patch))
        : 'No file was changed.';
    outputTo(process.stderr).line(outcome);
  } else if (!options.output && !process.stdout.write(patch)) {
    await once(process.stdout, 'drain');
  }
}
