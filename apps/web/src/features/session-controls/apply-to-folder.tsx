import { Download } from 'lucide-react';
import type { SessionSummary } from '@belay/protocol';
import { Button } from '@/components/ui/button';
import { CopyText } from '@/components/ui/copy-text';
import { downloadFile } from '@/lib/download-file';
import { fileName } from '@/lib/file-name';
import { client } from '@/lib/server';
import { attempt } from '@/lib/toasts';

/** A page cannot write to the user’s folders, so this offers a command that does, and a patch. */
export function ApplyToFolder({ session: { id, title } }: { session: SessionSummary }) {
  const patch = `${fileName(title)}.patch`;
  const save = () =>
    attempt(async () =>
      downloadFile(patch, (await client.sessions.patch(id)) as BlobPart, 'text/x-diff'),
    );
  return (
    <div className="space-y-5 text-sm">
      <section className="space-y-2">
        <h3 className="font-medium">With belay, on top of your own changes</h3>
        <CopyText label="Copy the command" text={`belay patch ${id} --apply .`} />
        <p className="text-xs text-faint">
          Run it in your folder. Either everything is applied or nothing changes.
        </p>
      </section>
      <section className="space-y-2">
        <h3 className="font-medium">With git only</h3>
        <Button onClick={save}>
          <Download size={14} aria-hidden /> Download the patch
        </Button>
        <CopyText label="Copy the command" text={`git apply ~/Downloads/${patch}`} />
      </section>
    </div>
  );
}
