/* SPDX-License-Identifier: PostgreSQL */
/*
 * No > in selectors: the page is well-formed XML as well. A table that is wider than the window
 * becomes a list of cards, one per row; so nothing scrolls sideways.
 */
#include "html.h"

const char wp_html_style[] =
	":root{color-scheme:light dark;--ink:#1c1e21;--soft:#5d646d;--paper:#fff;--panel:#f5f6f8;"
	"--line:#d5d9de;--bad:#b3202c;--bad-panel:#fdecec;--good:#1e7a45;--doubt:#8a5a00}\n"
	"@media (prefers-color-scheme:dark){:root{--ink:#e6e8ea;--soft:#9aa3ad;--paper:#14171a;"
	"--panel:#1d2125;--line:#363c43;--bad:#ff8088;--bad-panel:#3a1c20;--good:#63c98e;"
	"--doubt:#e0a94a}}\n"
	"*{box-sizing:border-box}\n"
	"body{margin:0;background:var(--paper);color:var(--ink);font:15px/1.45 system-ui,"
	"sans-serif;overflow-wrap:break-word}\n"
	"main,header,footer{max-width:1560px;margin:0 auto;padding:0 16px}\n"
	"h1{font-size:1.6rem;margin:18px 0 4px}\n"
	"h2{font-size:1.15rem;margin:28px 0 8px}\n"
	"code{font:13px/1.4 ui-monospace,monospace;overflow-wrap:anywhere}\n"
	".soft,.note{color:var(--soft);margin:2px 0}\n"
	".note{font-size:13px;overflow-wrap:anywhere}\n"
	".stopped,.failed{background:var(--bad-panel);border-left:4px solid var(--bad);"
	"padding:8px 12px;margin:12px 0}\n"
	".facts{display:flex;flex-wrap:wrap;gap:2px 20px;margin:6px 0;padding:0;list-style:none;"
	"font-size:13px;overflow-wrap:anywhere}\n"
	".facts b{font-weight:600;color:var(--soft)}\n"
	".checks{list-style:none;margin:0;padding:0}\n"
	".checks li{padding:4px 0;border-top:1px solid var(--line);overflow-wrap:anywhere}\n"
	".checks li:first-child{border:0}\n"
	".status{display:inline-block;min-width:5.6em;font-weight:700;font-size:12px}\n"
	".fail{color:var(--bad)}.pass{color:var(--good)}.unknown{color:var(--doubt)}"
	".info{color:var(--soft)}\n"
	".advice li{margin:6px 0}.advice small{display:block;color:var(--soft);font-size:13px}\n"
	"summary{cursor:pointer}summary h2{display:inline}\n"
	"details{margin-top:24px}\n"
	".plots{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,430px),1fr));"
	"gap:14px;align-items:start}\n"
	"figure{margin:0;padding:6px;background:var(--panel);border:1px solid var(--line);"
	"border-radius:6px;max-width:620px;min-width:0}\n"
	"figure svg{display:block;width:100%;height:auto}\n"
	"svg [fill=black]{fill:var(--ink)}svg [color=black]{color:var(--ink)}"
	"svg [stroke=black]{stroke:var(--ink)}\n"
	".wide{overflow-x:auto}\n"
	"table{border-collapse:collapse;font-size:13px;font-variant-numeric:tabular-nums}\n"
	"th,td{padding:3px 9px 3px 0;text-align:left;vertical-align:top;"
	"border-top:1px solid var(--line)}\n"
	".l{overflow-wrap:anywhere;min-width:9em}\n"
	"thead th{border:0;vertical-align:bottom;color:var(--soft);font-weight:600}\n"
	"tbody th{font-weight:600}\n"
	".r{text-align:right}tbody .r{white-space:nowrap}\n"
	".same{visibility:hidden}\n"
	"footer{color:var(--soft);font-size:13px;margin:32px auto 20px}\n";

/* One rule for each class of width; see wp_html_table(). */
#define CARDS(limit, name)                                                                         \
	"@media screen and (max-width:" limit "px){"                                               \
	"." name " thead{display:none}." name "{display:block}." name                              \
	" tbody{display:grid;gap:8px;grid-template-columns:repeat(auto-fill,"                      \
	"minmax(min(100%,250px),1fr))}." name                                                      \
	" tr{display:block;border:1px solid var(--line);border-radius:6px;padding:4px 8px}." name  \
	" th,." name " td{display:flex;justify-content:space-between;gap:12px;border:0;"           \
	"padding:1px 0;white-space:normal;text-align:right}." name " tbody th::before,." name      \
	" td::before{content:attr(data-label);"                                                    \
	"color:var(--soft);font-weight:400;text-align:left;flex:none;max-width:55%}." name         \
	" .same{visibility:visible}." name " .none{display:none}}\n"

const char *const wp_html_cards[] = {
	CARDS("520", "n1"),
	CARDS("740", "n2"),
	CARDS("980", "n3"),
	CARDS("1280", "n4"),
	CARDS("1580", "n5"),
	"@media print{:root{--ink:#000;--soft:#333;--paper:#fff;--panel:#fff;--line:#bbb;"
	"--bad:#a00;--bad-panel:#fff;--good:#060;--doubt:#640}body{font-size:11px}"
	"table{font-size:9px}th,td{padding-right:5px}"
	".plots{grid-template-columns:repeat(2,1fr)}"
	"figure,tr,.checks li{break-inside:avoid}h2{break-after:avoid}"
	"details::details-content{content-visibility:visible;height:auto}}\n",
	NULL,
};
