import { useState } from 'react';
import type { PublishedChange, SessionSummary } from '@belay/protocol';
import { Choice } from '@/components/ui/choice';
import { ApplyToFolder } from './apply-to-folder';
import { PublishToHost } from './publish-to-host';
import { PublishResult } from './publish-result';

const ways = [
  { value: 'host', label: 'Git host' },
  { value: 'folder', label: 'My folder' },
] as const;
type Way = (typeof ways)[number]['value'];

interface PublishFormProps {
  session: SessionSummary;
  onClose(): void;
}

export function PublishForm({ session, onClose }: PublishFormProps) {
  const [way, setWay] = useState<Way>('host');
  const [published, setPublished] = useState<PublishedChange | null>(null);
  if (published)
    return <PublishResult session={session.id} published={published} onClose={onClose} />;
  return (
    <div className="space-y-4">
      <Choice<Way> label="Destination" value={way} options={ways} onChange={setWay} />
      {way === 'host' ? (
        <PublishToHost session={session} onPublished={setPublished} onClose={onClose} />
      ) : (
        <ApplyToFolder session={session} />
      )}
    </div>
  );
}
