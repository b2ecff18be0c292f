import { join } from 'node:path';
import { AcpBridge } from '../acp-bridge.js';
import { clientOf, findServer, userDataFolder, type Where } from '../connection.js';
import { EditorFolders } from '../editor-folders.js';

export interface AcpOptions extends Where {
  model?: string;
  apply: boolean;
}

/**
 * `belay acp`: forwards messages between an editor on standard input and output and the server’s `/acp`, copies the
 * editor’s folder to the sandbox and the changes back.
 */
export async function serveAcp({ model, apply, ...where }: AcpOptions): Promise<void> {
  const address = findServer(where);
  const bridge = new AcpBridge({
    address,
    folders: new EditorFolders(clientOf(address), join(userDataFolder(), 'acp')),
    model: model ?? process.env.BELAY_MODEL,
    apply,
    write: (line) => void process.stdout.write(line),
  });
  await bridge.run(process.stdin);
}
