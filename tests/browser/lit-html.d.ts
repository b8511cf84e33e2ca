/** What the page uses of lit-html. */
export interface TemplateResult {
  strings: TemplateStringsArray;
  values: unknown[];
}
export declare const nothing: unique symbol;
export declare function html(strings: TemplateStringsArray, ...values: unknown[]): TemplateResult;
export declare function svg(strings: TemplateStringsArray, ...values: unknown[]): TemplateResult;
export declare function render(value: unknown, container: HTMLElement): unknown;
