import { longTestsOf } from '@belay/testing';

longTestsOf(() => jest.requireActual('./blob-store.spec.js'));
