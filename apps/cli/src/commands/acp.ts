import { join } from 'node:path';
import { errorCodes } from '@belay/protocol';
import { AcpBridge } from '../acp-bridge.js';
import { clientOf, findServer, userDataFolder, type Where } from '../connection.js';
import { EditorFolders } from '../editor-folders.js';

export interface AcpOptions extends Where {
  model?: string;
  apply: boolean;
}

/**
 * `belay acp`: forwards messages between an editor on standard input and output and the server’s `/acp`, copies the
 * editor’s folder to the sandbox and the changes back. Returns the exit code.
 */
export async function serveAcp({ model, apply, ...where }: AcpOptions): Promise<number> {
  const address = findServer(where);
  const client = clientOf(address);
  const bridge = new AcpBridge({
    address,
    client,
    folders: new EditorFolders(client, join(userDataFolder(), 'acp')),
    model: model ?? process.env.BELAY_MODEL,
    apply,
    write: (line) => void process.stdout.write(line),
  });
  const lost = await bridge.run(process.stdin);
  return lost ? errorCodes.unavailable.exit : 0;
}
