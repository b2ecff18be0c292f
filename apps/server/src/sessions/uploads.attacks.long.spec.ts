import { longTestsOf } from '@belay/testing';

longTestsOf(() => jest.requireActual('./uploads.attacks.spec.js'));
