import { longTestsOf } from '@belay/testing';

longTestsOf(() => jest.requireActual('./recovery.spec.js'));
