import { longTestsOf } from '@belay/testing';

longTestsOf(() => jest.requireActual('./settings.store.spec.js'));
