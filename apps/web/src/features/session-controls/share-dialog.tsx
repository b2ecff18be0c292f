import { lazy, Suspense } from 'react';
import { Dialog } from '@/components/ui/dialog';
import { Loading } from '@/components/ui/empty';
import { useShareRequest } from './share-request';

const ShareForm = lazy(async () => ({
  default: (await import('./share-form')).ShareForm,
}));

/** Shares a session as a file, or live through a revocable link. */
export function ShareDialog() {
  const session = useShareRequest((state) => state.session);
  if (!session) return null;
  const close = () => useShareRequest.setState({ session: null });
  return (
    <Dialog title="Share this session" onClose={close}>
      <Suspense fallback={<Loading what="the form" />}>
        <ShareForm key={session.id} session={session} />
      </Suspense>
    </Dialog>
  );
}
