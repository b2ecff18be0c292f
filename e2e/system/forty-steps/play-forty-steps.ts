import { execFileSync } from 'node:child_process';
import { cpSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type BelayServer, repositoryRoot, start } from '@belay/testkit';

export const here = join(repositoryRoot, 'e2e/system/forty-steps');

/**
 * Uploads the repository. The package is installed from the registry at the version of the lock
 * file, so its code is not copied into this repository.
 */
export async function uploadRepository(server: BelayServer, folder: string): Promise<string> {
  cpSync(join(repositoryRoot, 'node_modules/commander'), join(folder, 'commander'), {
    recursive: true,
  });
  execFileSync('tar', ['cf', 'commander.tar', '-C', 'commander', '.'], { cwd: folder });
  const archive = readFileSync(join(folder, 'commander.tar'));
  return (await server.client.uploads.workspace(archive)).workspace;
}

/** A session of this model in the repository, its end, and its patch. */
export async function playFortySteps(server: BelayServer, model: string, workspace: string) {
  const session = await start(server, {
    task: 'Add optionNames() to commands.',
    model,
    workspace,
  });
  const end = await session.ended();
  session.close();
  const patch = Buffer.from(await server.client.sessions.patch(session.id)).toString();
  return { session, end, patch };
}
