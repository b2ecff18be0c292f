import { longTestsOf } from '@belay/testing';

longTestsOf(() => jest.requireActual('./preview.attacks.spec.js'));
