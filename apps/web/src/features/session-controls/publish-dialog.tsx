import { lazy, Suspense } from 'react';
import { Dialog } from '@/components/ui/dialog';
import { Loading } from '@/components/ui/empty';
import { usePublishRequest } from './publish-request';

const PublishForm = lazy(async () => ({
  default: (await import('./publish-form')).PublishForm,
}));

/** Publishes a session’s changes to a git host or the user’s folder. */
export function PublishDialog() {
  const session = usePublishRequest((state) => state.session);
  if (!session) return null;
  const close = () => usePublishRequest.setState({ session: null });
  return (
    <Dialog wide title="Publish changes" onClose={close}>
      <Suspense fallback={<Loading what="the form" />}>
        <PublishForm key={session.id} session={session} onClose={close} />
      </Suspense>
    </Dialog>
  );
}
