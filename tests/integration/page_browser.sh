#!/bin/bash
# The page in a real browser at 400, 1000 and 1600 pixels: nothing scrolls sideways, no plot's text
# is too small to read.
. "$(dirname "$0")/lib.sh"
need_command gnuplot jq chromium

jq -n -f "$TESTS/data/every_plot.jq" >all.json || fail "the document"
expect_status 0 "$WALPROBE" report --format=html -o all.html all.json
# What must be found.
echo '<!DOCTYPE html><html><body><p>x</p><div style="width:2000px">wide</div></body></html>' >wide.html

# look PAGE WIDTH - prints what is too wide or too small in the page, in a window of that width
look() {
	cat >frame.html <<-END
	<!DOCTYPE html><html><body style="margin:0"><pre id="found">not run</pre>
	<iframe id="f" src="$1" style="border:0;width:$2px;height:900px"></iframe><script>
	document.getElementById("f").onload = function () {
		var d = this.contentDocument, found = [], root = d.documentElement;
		d.querySelectorAll("details").forEach(function (e) { e.open = true; });
		if (root.clientWidth !== $2) found.push("window of " + root.clientWidth);
		if (root.scrollWidth > root.clientWidth) found.push("page of " + root.scrollWidth);
		d.querySelectorAll(".wide").forEach(function (e) {
			if (e.scrollWidth > e.clientWidth)
				found.push("table of " + e.scrollWidth + ": " + e.textContent.slice(0, 60));
		});
		d.querySelectorAll("svg").forEach(function (e) {
			/* gnuplot's letters are 12 pixels high in a picture of its own size. */
			var size = 12 * e.getBoundingClientRect().width / e.viewBox.baseVal.width;
			if (size < 8) found.push("letters of " + size);
		});
		document.getElementById("found").textContent = found.join("\n") || "nothing";
	};
	</script></body></html>
	END
	timeout 120 chromium --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --hide-scrollbars \
		--user-data-dir="$PWD/profile" --allow-file-access-from-files --window-size=1700,1000 \
		--virtual-time-budget=10000 --dump-dom "file://$PWD/frame.html" 2>chromium.err |
		awk '/<pre id="found">/ { sub(/.*<pre id="found">/, ""); on = 1 }
			on { end = sub(/<\/pre>.*/, ""); print; if (end) exit }'
}

export HOME=$PWD
found=$(look wide.html 1000)
case $found in
'' | 'not run') skip "chromium does not run here: $(grep -v '^$' chromium.err | head -n 1)" ;;
'page of 20'*) ;;
*) fail "a page that is too wide was not found: $found" ;;
esac
for width in 400 1000 1600; do
	found=$(look all.html $width)
	[ "$found" = nothing ] || fail "at $width pixels: $found"
done
rm -rf profile
